"""`python -m eval.run`: score programs on a benchmark with any LM.

Exit codes: 0 complete, 1 too many items failed or too many LM errors in a row, 2 bad input, 3 stopped by --max-calls,
130 interrupted. After 1, 3 and 130 (and after any kill) the same command with --resume goes on.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal

import dspy
import typer
from dspy.utils.exceptions import DSPyError

from eval.data.load import balanced, load_benchmark
from eval.failures import LMErrorsInARowError
from eval.instance import Benchmark, Instance
from eval.markdown import print_summary
from eval.run_config import LMConfig, ProgramConfig, RunConfig, fingerprint, identity_of
from eval.run_folder import RunFolder
from eval.runner import Work, run
from prefine_dspy import lm as lms
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError
from prefine_dspy.rendering import history_text
from programs import load_system

FAILED, BAD_INPUT, OUT_OF_BUDGET, INTERRUPTED = 1, 2, 3, 130
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    program: Annotated[
        list[str],
        typer.Option(help="a program, with options of its own if wanted: prefine:record=full,K=3; repeatable"),
    ],
    lm: Annotated[str, typer.Option(help="the LM that answers queries: local, local:<name>, openai/gpt-5-mini ...")],
    out: Annotated[Path, typer.Option(help="the run's folder")],
    data: Annotated[str, typer.Option(help="mini, mpt, a file in the released format, or a build folder")] = "mini",
    query: Annotated[Literal["cg", "cf", "both"], typer.Option(help="context-guided, context-free, or both")] = "both",
    memory_lm: Annotated[str | None, typer.Option(help="the LM that builds memories [default: --lm]")] = None,
    schema: Annotated[Literal["base", "extended"], typer.Option(help="extended: functions no history holds")] = "base",
    limit: Annotated[int | None, typer.Option(min=1, help="instances, balanced over query and reasoning types")] = None,
    seed: Annotated[int, typer.Option(help="for the choice of --limit instances")] = 0,
    option: Annotated[list[str] | None, typer.Option(help="key=value for every program; repeatable")] = None,
    resume: Annotated[bool, typer.Option(help="continue the run in --out; begins it when there is none")] = False,
    num_threads: Annotated[int, typer.Option(min=1, help="histories worked on at once")] = 1,
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="LM calls at most, over the run and its resumptions")
    ] = None,
    max_failures: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="exit with 1 when more items or updates failed (lm_error, parse_error)"),
    ] = 0.2,
) -> None:
    """Score programs on a benchmark: memories first, then queries."""
    try:
        with _stopping_on_signals():
            work, config = prepare(program, lm, memory_lm, data, query, schema, limit, seed, option or [])
            with RunFolder(out, config, resume=resume) as folder:
                for warning in folder.warnings:
                    _say(f"note: {warning}")
                summary = run(folder, work, num_threads=num_threads, max_calls=max_calls)
    except BudgetExhausted as stop:
        _say(f"stopped: {stop}; continue with a larger limit: {_continue_command(without='--max-calls')} --max-calls N")
        raise typer.Exit(OUT_OF_BUDGET) from None
    except LMErrorsInARowError as stop:
        _say(f"stopped: {stop}; when the LM works again: {_continue_command()}")
        raise typer.Exit(FAILED) from None
    except PrefineError as error:
        _say(f"error: {error}")
        raise typer.Exit(BAD_INPUT) from None
    except (OSError, sqlite3.Error) as error:
        where = getattr(error, "filename", None) or out
        reason = getattr(error, "strerror", None) or error
        _say(f"error: cannot use {where}: {reason}; what is done is kept. When that is mended: {_continue_command()}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        _say(f"interrupted; what is done is kept. Continue with: {_continue_command()}")
        raise typer.Exit(INTERRUPTED) from None
    print_summary(summary)
    typer.echo(f"\nwritten to {out}; tables and plots: python -m eval.report {shlex.quote(str(out))}")
    shares = {"items": summary["failed_share"], "memory updates": summary["failed_update_share"]}
    failed = [f"{share:.0%} of the {what}" for what, share in shares.items() if share > max_failures]
    if failed:
        _say(
            f"{' and '.join(failed)} ended in lm_error or parse_error, more than --max-failures "
            f"{max_failures:g}; LM errors that may pass are tried again by: {_continue_command()}"
        )
        raise typer.Exit(FAILED)


def prepare(
    programs: list[str],
    lm_name: str,
    memory_lm_name: str | None,
    data: str,
    query: str,
    schema: Literal["base", "extended"],
    limit: int | None,
    seed: int,
    options: list[str],
) -> tuple[Work, RunConfig]:
    """Load everything a run needs and say what it is.

    Raises:
        InputError: an unknown name, a file that cannot be used, two LMs that the cache cannot tell apart.
    """
    shared = parse_options(options)
    systems: dict[str, Any] = {}
    described = []
    for label in dict.fromkeys(programs):
        name, own = parse_program(label)
        settings = {**shared, **own}
        systems[label] = load_system(name, **settings)
        described.append(
            ProgramConfig(label=label, name=name, options=settings, fingerprint=fingerprint(systems[label].program))
        )
    benchmark = load_benchmark(data, schema)
    instances = choose(benchmark, query, limit, seed)
    lm, memory_lm = load_lms(lm_name, memory_lm_name)
    config = RunConfig(
        programs=described,
        lm=LMConfig.of(lm_name, lm),
        memory_lm=LMConfig.of(memory_lm_name or lm_name, memory_lm),
        data=benchmark.name,
        data_identity=benchmark.identity,
        data_schema=schema,
        query=query,
        limit=limit,
        seed=seed,
        instances=len(instances),
        instances_identity=identity_of([instance.id for instance in instances]),
    )
    return Work(systems, benchmark, instances, lm, memory_lm), config


def choose(benchmark: Benchmark, query: str, limit: int | None, seed: int) -> list[Instance]:
    """The instances of the wanted query type, at most `limit`, balanced.

    Raises:
        InputError: there are none.
    """
    chosen = [one for one in benchmark.instances if query in ("both", one.query_type)]
    if not chosen:
        if query == "both":
            raise InputError(f"{benchmark.name} has no queries under this --schema: give other --data")
        raise InputError(f"{benchmark.name} has no {query} queries: try --query both")
    if limit is None or limit >= len(chosen):
        return chosen
    lengths = {name: len(history_text(history)) for name, history in benchmark.histories.items()}
    return balanced(chosen, limit, seed, lengths)


def load_lms(name: str, memory_name: str | None) -> tuple[dspy.LM, dspy.LM]:
    """The inference LM and the memory LM, both with their cache on.

    Raises:
        InputError: unknown names, or two LMs at different addresses under one model string: they would share answers.
    """
    lm = _resolved(name)
    if memory_name is None or memory_name == name:
        return lm, lm
    memory_lm = _resolved(memory_name)
    addresses = [one.kwargs.get("api_base") or one.kwargs.get("base_url") for one in (lm, memory_lm)]
    if lm.model == memory_lm.model and addresses[0] != addresses[1]:
        raise InputError(
            f"--lm and --memory-lm are both called {lm.model} but have different addresses; "
            "answers would be mixed up: name them apart, e.g. llama-server:URL#model"
        )
    return lm, memory_lm


def _resolved(name: str) -> dspy.LM:
    try:
        lm = lms.resolve(name)
    except (DSPyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the LM {name} cannot be used: {reason} (see python -m prefine_dspy.lm list)") from None
    return lm if lm.cache else lm.copy(cache=True)


def parse_program(label: str) -> tuple[str, dict[str, Any]]:
    """`prefine:record=full,K=3` -> ("prefine", {"record": "full", "K": 3})."""
    name, _, rest = label.partition(":")
    return name, parse_options(rest.split(",") if rest else [])


def parse_options(pairs: list[str]) -> dict[str, Any]:
    """`["K=3", "record=full"]` -> {"K": 3, "record": "full"}; values are JSON where they can be, else text.

    Raises:
        InputError: a pair without "=".
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise InputError(f"{pair!r} is no option: write key=value, e.g. K=3")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return options


def _continue_command(without: str = "") -> str:
    """The command line that goes on with this run."""
    words = list(sys.argv[1:])
    if without in words:
        at = words.index(without)
        del words[at : at + 2]
    words = [word for word in words if not without or not word.startswith(f"{without}=")]
    if "--resume" not in words:
        words.append("--resume")
    return shlex.join(["python", "-m", "eval.run", *words])


def _say(text: str) -> None:
    typer.echo(text, err=True)


@contextmanager
def _stopping_on_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM let calls in flight finish, so that their answers are not lost; a second one does not wait."""
    asked = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(INTERRUPTED)
        asked = True
        _say("stopping after the LM calls in flight (once more: stop at once)")
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    app()
