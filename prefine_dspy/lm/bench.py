"""`python -m prefine_dspy.lm.bench`: this package's calls against plain calls of llama.cpp on the same prompts.

Queries are asked one after the other over one catalogue, whose text is the shared beginning of all prompts. The plain
side is the same library, xllamacpp, as it comes: its default settings, and the schema in the request as OpenAI's
protocol has it. Loading is not counted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import dspy
import typer
from pydantic import TypeAdapter, ValidationError

from prefine_dspy.adapter import answer_schema
from prefine_dspy.caller import ToolCaller, with_tools
from prefine_dspy.errors import InputError, MissingExtra, PrefineError
from prefine_dspy.lm import resolve
from prefine_dspy.lm.bench_tools import catalogue
from prefine_dspy.lm.engine import LlamaCppEngine
from prefine_dspy.signatures import CallTool
from prefine_dspy.tools import Catalogue, Tool
from prefine_dspy.types import Query

MEMORY = "The user prefers low cost options and quiet places."
MAX_TOKENS = 256
Messages = list[dict[str, Any]]


class Call(NamedTuple):
    """One measured call.

    Args:
        seconds: wall time.
        prompt: tokens of the prompt, `cached` of them not evaluated again.
        generated: tokens of the answer.
        prompt_seconds, generated_seconds: llama.cpp's own times for the two phases.
        finished: the answer was not cut off by the limit on tokens.
    """

    seconds: float
    prompt: int
    cached: int
    generated: int
    prompt_seconds: float
    generated_seconds: float
    finished: bool


class Side(NamedTuple):
    """The calls of one side, in order."""

    calls: Sequence[Call]

    def mean(self, field: str) -> float:
        return sum(getattr(call, field) for call in self.calls) / len(self.calls)

    def figures(self) -> dict[str, float]:
        """What is compared, by name."""
        prompt, cached = self.mean("prompt"), self.mean("cached")
        return {
            "seconds a call": self.mean("seconds"),
            "prompt tokens a call": prompt,
            "% of them from the prefix cache": 100 * cached / prompt,
            "prompt tokens per second, cached included": prompt / max(self.mean("prompt_seconds"), 1e-9),
            "prompt tokens per second, evaluated": (prompt - cached) / max(self.mean("prompt_seconds"), 1e-9),
            "generated tokens a call": self.mean("generated"),
            "generated tokens per second": self.mean("generated") / max(self.mean("generated_seconds"), 1e-9),
            "% of answers cut off": 100 * (1 - self.mean("finished")),
        }


def measure(lm: dspy.LM, tools: Catalogue, n: int) -> tuple[Side, Side]:
    """Ask n queries through the engine, then send the same prompts to a plain server.

    Args:
        lm: a local one, uncached.
        tools: the catalogue that all queries share.
        n: queries.

    Returns:
        The plain side and the engine's.
    """
    engine: LlamaCppEngine = lm.engine
    ours, prompts = _engine_calls(lm, tools, n)
    engine.close()
    plain = _plain_calls(engine, prompts, answer_schema(with_tools(CallTool, tools)))
    return Side(plain), Side(ours)


def queries(tools: Catalogue, n: int) -> list[Query]:
    """Requests for n of the tools, spread over the catalogue."""
    chosen = [tools.tools[number * len(tools) // n % len(tools)] for number in range(n)]
    return [
        Query.of(f"Number {number}: please {tool.description or f'use {tool.name}'} for me.", id=f"bench-{number}")
        for number, tool in enumerate(chosen, start=1)
    ]


def _engine_calls(lm: dspy.LM, tools: Catalogue, n: int) -> tuple[list[Call], list[Messages]]:
    lm.engine.server()
    calls, prompts = [], []
    caller = ToolCaller()
    with dspy.context(lm=lm):
        for query in queries(tools, n):
            start = time.perf_counter()
            caller(query=query, tools=tools, memory=MEMORY)
            seconds = time.perf_counter() - start
            sent = lm.history[-1]
            calls.append(_call(dict(sent["response"].provider_data), seconds))
            prompts.append(list(sent["messages"]))
    return calls, prompts


def _plain_calls(engine: LlamaCppEngine, prompts: Sequence[Messages], schema: dict[str, Any]) -> list[Call]:
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtra("the local LM", "local") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(engine.path)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = engine.threads
    params.verbosity = -1
    server = xllamacpp.Server(params)
    # As it comes, the library turns schemas into a grammar that knows fewer patterns, and says so at great length.
    form = {"type": "json_schema", "json_schema": {"name": "call", "strict": True, "schema": schema}}
    calls = []
    for messages in prompts:
        body: dict[str, Any] = {"messages": messages, "temperature": 0.0, "max_tokens": MAX_TOKENS}
        start = time.perf_counter()
        with _silenced_stderr():
            try:
                answer = server.handle_chat_completions({**body, "response_format": form})
            except RuntimeError:
                # An answer that its schema mode cannot read, such as one cut off in white space, is an exception there;
                # the same prompt without a schema is what a caller is left with.
                start = time.perf_counter()
                answer = server.handle_chat_completions(body)
        seconds = time.perf_counter() - start
        if "error" in answer:
            raise InputError(f"llama.cpp refused a plain call: {answer['error']}; try fewer or smaller --tools")
        calls.append(_call(answer, seconds))
    return calls


@contextmanager
def _silenced_stderr() -> Iterator[None]:
    """What C++ code writes to the process's stderr goes nowhere."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _call(answer: dict[str, Any], seconds: float) -> Call:
    timings, usage = answer["timings"], answer["usage"]
    return Call(
        seconds=seconds,
        prompt=usage["prompt_tokens"],
        cached=timings["cache_n"],
        generated=usage["completion_tokens"],
        prompt_seconds=timings["prompt_ms"] / 1000,
        generated_seconds=timings["predicted_ms"] / 1000,
        finished=answer["choices"][0]["finish_reason"] != "length",
    )


def table(plain: Side, ours: Side) -> str:
    """Both sides and the engine's share of the plain side."""
    lines = [f"{'':42}{'plain':>10}{'engine':>10}{'engine/plain':>14}"]
    after = ours.figures()
    for name, before in plain.figures().items():
        ratio = f"{after[name] / before:.2f}" if before else "-"
        lines.append(f"{name:42}{before:>10,.1f}{after[name]:>10,.1f}{ratio:>14}")
    return "\n".join(lines)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def run(
    lm: Annotated[str, typer.Option(help="local, local:<name> or local:/path/model.gguf")] = "local",
    n: Annotated[int, typer.Option(min=1, help="queries")] = 6,
    tools: Annotated[Path | None, typer.Option(help="JSON list of tools to use in place of the built-in ones")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads of both sides; all usable ones")] = None,
) -> None:
    """Print tokens per second, the prefix cache's share and seconds a call, of plain calls and of this engine."""
    if lm.partition(":")[0] != "local":
        raise InputError(f"{lm!r} does not run in this process: give --lm local or local:<name>")
    used = read_tools(tools) if tools else catalogue()
    model = resolve(lm, threads=threads, cache=False, max_tokens=MAX_TOKENS)
    shared = model.engine.count_tokens(used.prompt_text())
    print(
        f"{n} queries over one catalogue of {shared:,} tokens; {model.model}; {model.engine.threads} threads",
        flush=True,
    )
    print(table(*measure(model, used, n)))


def read_tools(path: Path) -> Catalogue:
    """The catalogue of a JSON file: a list of tools as `prefine_dspy.Tool` has them.

    Raises:
        InputError: no such file, or it holds something else.
    """
    try:
        return Catalogue(TypeAdapter(list[Tool]).validate_json(path.read_bytes()))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give --tools a JSON list of tools") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{path} is no list of tools: {first['msg']} at {list(first['loc'])}") from None


def main() -> None:
    """The command; errors of ours are one line."""
    try:
        app()
    except PrefineError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
