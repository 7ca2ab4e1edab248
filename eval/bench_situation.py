"""`python -m eval.bench_situation [--data FOLDER]`: what the situation state costs in time and saves in prompt tokens.

Time: one tool return of 100 kB, observed, in each notation; the processor's time beside the clock's, which on a busy
machine is longer. Tokens: the recorded tau-bench runs (`tau_trajectories.jsonl.gz` in FOLDER), mean per LM call, policy
and tool schemas apart: the raw history against facts, state and residual history, for each form of facts. Every message
counts 4 tokens beside its text. No LM is asked: the state that an agent would have written is made up from the run's
own writing calls (`replayed_state`).
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from prefine_dspy.situation import (
    RENDERERS,
    Constraint,
    Intent,
    ResidualHistory,
    SituationState,
    StateLayer,
    Variable,
    read_condition,
)

PER_MESSAGE = 4
"""Tokens of a chat message beside its text."""
WRITING = ("book_", "update_", "cancel_", "modify_", "exchange_", "return_", "send_")
CHECKS = {
    "update_reservation_flights": "reservation {}.cabin != basic_economy",
    "cancel_reservation": "reservation {}.created_at >= 2024-05-14T15:00:00 or cabin == business or insurance == yes",
    "cancel_pending_order": "order {}.status == pending",
    "modify_pending_order_items": "order {}.status == pending",
    "modify_pending_order_address": "order {}.status == pending",
    "exchange_delivered_order_items": "order {}.status == delivered",
    "return_delivered_order_items": "order {}.status == delivered",
}
"""A rule of each writing tool, by its first id."""
TokenCounter = Callable[[str], int]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


# ---------------------------------------------------------------------------------------------------------------- time


def returns_of(size: int) -> dict[str, str]:
    """A tool's return of about that many characters in each notation that is read."""
    flights = [
        {
            "flight_id": f"F{at:05}",
            "status": "available",
            "seats": {"economy": at % 30, "business": at % 7},
            "price": at + 0.5,
        }
        for at in range(size // 104)
    ]
    place = "3rd floor, 158 North Street, Old Town (beside the station) longitude:112.5731,latitude:37.7996"
    lines = [
        f"Store(name=Shop No. {at}, Inc., store_id=S{at}, score=4.5, location={place}, tags=['Quick', 'Open late'])"
        for at in range(size // 190)
    ]
    days = [
        f"city: Town {at}, weather: sunny, datetime: 2025-06-{at % 30 + 1:02}, temperature: 17.0~25.0, humidity: 84.0"
        for at in range(size // 96)
    ]
    return {
        "JSON list": json.dumps(flights),
        "JSON object": json.dumps({"user_id": "u1", "flights": flights}),
        "JSON lines in prose": "Found:\n" + "\n".join(json.dumps(one) for one in flights),
        "Python literal": str(flights),
        "typed records": "\n".join(lines),
        "key: value lines": "\n".join(days),
        "text": "No flights were found for that day. " * (size // 36),
    }


def observe_milliseconds(result: str, times: int) -> tuple[float, float]:
    """Medians of one observation: the clock's time, and the processor's."""
    clock, processor = [], []
    for _ in range(times):
        situation = SituationState()
        started = time.perf_counter(), time.process_time()
        situation.observe("search", {"query": "all"}, result)
        clock.append(time.perf_counter() - started[0])
        processor.append(time.process_time() - started[1])
    return 1000 * statistics.median(clock), 1000 * statistics.median(processor)


# -------------------------------------------------------------------------------------------------------------- tokens


class Step(NamedTuple):
    """One message of a recorded run; `tool` and `arguments` of a call or of its return."""

    role: str
    text: str
    tool: str = ""
    arguments: dict[str, Any] = {}  # noqa: RUF012 - never written to


def read_runs(folder: Path) -> Iterator[tuple[str, list[Step]]]:
    """(domain, messages) of every recorded run."""
    with gzip.open(folder / "tau_trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["domain"], list(_steps(record["messages"]))


def _steps(messages: Sequence[dict[str, Any]]) -> Iterator[Step]:
    tool, arguments = "", "{}"
    for message in messages:
        if message["role"] == "tool":
            yield Step("tool", message["content"], tool, json.loads(arguments))
        elif calls := message.get("tool_calls"):
            tool, arguments = calls[-1]["function"]["name"], calls[-1]["function"]["arguments"]
            yield Step("call", message.get("content") or "", tool, {"json": arguments})
        else:
            yield Step(message["role"], message["content"] or "")


def replayed_state(steps: Sequence[Step], at: int) -> StateLayer:
    """The state that an agent could have written before a message: its writing calls as intents, those made completed,
    their scalar arguments as variables, a rule of the policy as constraint each. All goals are known from the start."""
    calls: dict[str, tuple[int, Step]] = {}
    for number, step in enumerate(steps):
        if step.role == "tool" and step.tool.startswith(WRITING) and not step.text.startswith("Error"):
            first = str(next(iter(step.arguments.values()), ""))
            calls.setdefault(f"{step.tool}_{first.strip('#')}", (number, step))
    intents, constraints = [], []
    variables: dict[str, Variable] = {}
    active = False
    for name, (number, step) in calls.items():
        done = number < at
        status = "completed" if done else "pending" if active else "active"
        intents.append(Intent.model_validate({"name": name, "status": status}))
        first = str(next(iter(step.arguments.values()), ""))
        if step.tool in CHECKS:
            grounding = read_condition(CHECKS[step.tool].format(first))
            constraints.append(
                Constraint(name=f"rule_{name}", condition="the policy allows it", guards=(name,), grounding=grounding)
            )
        for argument, value in step.arguments.items() if not active else ():
            if isinstance(value, str | int | float) and len(str(value)) <= 60:
                known = any(str(value) in earlier.text for earlier in steps[:at])
                variables[argument] = Variable(
                    name=argument, value=value if known else None, known=known, source="askable"
                )
        active = active or not done
    intents = intents or [Intent(name="answer_the_user", status="active")]
    return StateLayer(intents=tuple(intents), variables=tuple(variables.values()), constraints=tuple(constraints))


def prompt_tokens(runs: Sequence[tuple[str, list[Step]]], form: Any, count: TokenCounter) -> dict[str, Counter[str]]:
    """By domain: LM calls, and tokens of each part of the prompt, summed over all LM calls."""
    sums: dict[str, Counter[str]] = {}
    for domain, steps in runs:
        added = sums.setdefault(domain, Counter())
        situation, history = SituationState(form=form), ResidualHistory()
        raw = shown = observed = 0
        run = Counter[str]()
        for at, step in enumerate(steps):
            if step.role in ("assistant", "call"):
                situation.propose(replayed_state(steps, at))
                if situation.step != observed:
                    observed, shown = situation.step, count(situation.render_facts(with_history=True))
                run += Counter(
                    calls=1,
                    raw=raw,
                    history=sum(count(line) + PER_MESSAGE for line in history.lines()),
                    facts=shown,
                    state=count(situation.render_state()) + PER_MESSAGE,
                )
            raw += (
                PER_MESSAGE
                + count(step.text)
                + (count(step.tool) + count(step.arguments["json"]) if step.role == "call" else 0)
            )
            if step.role == "tool":
                history.tool(situation.observe(step.tool, step.arguments, step.text))
            elif step.role == "user":
                history.user(step.text)
            elif step.text:
                history.agent(step.text)
        run["larger"] = int(run["history"] + run["facts"] + run["state"] > run["raw"])
        run["runs"] = 1
        added.update(run)
    return sums


def o200k() -> tuple[TokenCounter, str]:
    """Tokens as gpt-4o counts them, with the vocabulary that litellm ships; else a quarter of the characters."""
    spec = importlib.util.find_spec("litellm")
    folder = (
        Path(str((spec.submodule_search_locations or [""])[0] if spec else "")) / "litellm_core_utils" / "tokenizers"
    )
    if folder.is_dir():  # tiktoken asks the network for what is not there
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
        try:
            import tiktoken

            encoding = tiktoken.get_encoding("o200k_base")
        except Exception:  # noqa: BLE001 - not installed, or no vocabulary: the estimate does
            pass
        else:
            return lru_cache(maxsize=100_000)(
                lambda text: len(encoding.encode(text, disallowed_special=()))
            ), "o200k_base"
    return lambda text: -(-len(text) // 4), "characters/4"


@app.command()
def main(
    data: Annotated[
        Path | None, typer.Option(help="folder with tau_trajectories.jsonl.gz; without it, time only")
    ] = None,
    size: Annotated[int, typer.Option(min=1000, help="characters of a tool return")] = 100_000,
    times: Annotated[int, typer.Option(min=1, help="how often each return is observed")] = 15,
) -> None:
    """Print the time of an observation and, with the recorded runs, prompt tokens per LM call."""
    table = Table("return", "characters", "median ms", "processor ms")
    for name, result in returns_of(size).items():
        table.add_row(name, f"{len(result):,}", *(f"{taken:.1f}" for taken in observe_milliseconds(result, times)))
    Console().print(table)
    if data is None:
        return
    if not (data / "tau_trajectories.jsonl.gz").is_file():
        typer.echo(f"error: {data} has no tau_trajectories.jsonl.gz: give the folder with --data", err=True)
        raise typer.Exit(2)
    count, method = o200k()
    runs = list(read_runs(data))
    tokens = Table(
        "domain", "LM calls", "form", "raw", "history", "facts", "state", "sum", "change", "no state", "larger runs"
    )
    tokens.title = f"prompt tokens per LM call ({method})"
    for form in RENDERERS:
        for domain, sums in prompt_tokens(runs, form, count).items():
            tokens.add_row(*_row(domain, form, sums))
    Console().print(tokens)


def _row(domain: str, form: str, sums: Counter[str]) -> list[str]:
    means = {name: sums[name] / sums["calls"] for name in ("raw", "history", "facts", "state")}
    without = means["history"] + means["facts"]
    return [
        *(domain, f"{sums['calls']:,}", form),
        *(f"{means[name]:,.0f}" for name in means),
        f"{without + means['state']:,.0f}",
        f"{100 * ((without + means['state']) / means['raw'] - 1):+.1f} %",
        f"{100 * (without / means['raw'] - 1):+.1f} %",
        f"{sums['larger']} of {sums['runs']}",
    ]


if __name__ == "__main__":
    app()
