"""`python -m eval.bench_harness`: what the harness adds to an item, measured with an LM that answers at once.

The same program on the same instances and the same LM, in one process: once in a bare loop, once through the runner
(cache of answers, budget, usage, scoring by both scorers, item lines, progress). The difference an item is the
harness. Medians of several rounds, because the machine may be busy with other things.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer
from dspy import lm15

from eval.data.load import catalogue_of, load_benchmark
from eval.instance import Benchmark, Instance
from eval.run_config import LMConfig, ProgramConfig, RunConfig
from eval.run_folder import RunFolder
from eval.runner import run
from eval.tasks.mpt import MPTTask
from prefine_dspy.errors import PrefineError
from prefine_dspy.types import Memory
from programs import System, load_system

LIMIT_MS = 5.0
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class InstantEngine:
    """An LM that answers at once, always the same."""

    supports_response_schema = True
    supported_params = frozenset({"temperature", "max_tokens", "response_format"})

    def complete(self, request: lm15.Request) -> lm15.Response:
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant([lm15.TextPart('{"call":{"name":"none"}}')]),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=1000, output_tokens=10, total_tokens=1010),
        )


def bare_seconds(system: System, benchmark: Benchmark, instances: list[Instance], lm: dspy.LM) -> float:
    """Seconds to answer all instances in a plain loop, without a cache."""
    memory = Memory()
    started = time.perf_counter()
    with dspy.context(lm=lm.copy(cache=False), disable_history=True):
        for one in instances:
            system.answer(one.query, catalogue_of(benchmark, one), benchmark.histories[one.history_id], memory)
    return time.perf_counter() - started


def harness_seconds(name: str, benchmark: Benchmark, instances: list[Instance], lm: dspy.LM, folder: Path) -> float:
    """Seconds for the same through the runner, its start and its summary included."""
    described = LMConfig.of("instant", lm)
    config = RunConfig(
        programs=[ProgramConfig(label=name, name=name)],
        lm=described,
        memory_lm=described,
        data=benchmark.name,
        data_identity=benchmark.identity,
        data_schema="base",
        query="both",
        limit=None,
        seed=0,
        instances=len(instances),
        instances_identity="",
    )
    work = MPTTask({name: load_system(name)}, benchmark, instances, lm, lm)
    started = time.perf_counter()
    with RunFolder(folder, config, resume=False) as opened:
        run(opened, work)
    return time.perf_counter() - started


def measure(data: str, items: int, rounds: int) -> dict[str, Any]:
    """Milliseconds an item: bare, harness, added (harness less bare); medians over rounds."""
    name = "full_history"
    benchmark = load_benchmark(data)
    wanted = benchmark.instances * (items // len(benchmark.instances) + 1)
    instances = [one.model_copy(update={"id": f"{at}"}) for at, one in enumerate(wanted[:items])]
    lm = dspy.LM("instant/instant", engine=InstantEngine(), temperature=0.0, max_tokens=100)
    bare_seconds(load_system(name), benchmark, instances[:5], lm)  # warm up: imports, signatures
    bare, harness = [], []
    with tempfile.TemporaryDirectory() as folder:
        for at in range(rounds):
            bare.append(1000 * bare_seconds(load_system(name), benchmark, instances, lm) / items)
            harness.append(1000 * harness_seconds(name, benchmark, instances, lm, Path(folder) / str(at)) / items)
    added = [ours - plain for ours, plain in zip(harness, bare, strict=True)]
    return {
        "items": items,
        "rounds": rounds,
        "bare_ms": statistics.median(bare),
        "harness_ms": statistics.median(harness),
        "added_ms": statistics.median(added),
    }


@app.command()
def main(
    data: Annotated[str, typer.Option(help="the benchmark")] = "mini",
    items: Annotated[int, typer.Option(min=1, help="instances a round; repeated when there are fewer")] = 300,
    rounds: Annotated[int, typer.Option(min=1, help="rounds")] = 3,
) -> None:
    """Measure what the harness adds to an item; exit 1 when it is 5 ms or more."""
    try:
        found = measure(data, items, rounds)
    except PrefineError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(
        f"{found['items']} items, {found['rounds']} rounds: bare loop {found['bare_ms']:.2f} ms an item, "
        f"harness {found['harness_ms']:.2f} ms, added {found['added_ms']:.2f} ms (limit {LIMIT_MS:g} ms)"
    )
    if found["added_ms"] >= LIMIT_MS:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
