"""`python -m programs.compile`: place demonstrations and rewrite instructions of a program for an LM and data.

    python -m programs.compile --program prefine --data mini --optimizer labeled --lm local --out optimized/prefine-mpt

This file is where programs and benchmark are put together, so it is the one file of `programs` that imports `eval`;
nothing imports it. `programs.compilation` holds the optimizers and knows no benchmark.

Exit codes: 0 complete, 2 bad input, 3 stopped by --max-calls with the best program so far written, 130 interrupted.
After a kill the same command with --resume goes on: calls that were answered are not made again.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eval.compiling.flow import Compiled, compile_program
from eval.compiling.forecast import stages
from eval.compiling.scores import table
from eval.compiling.task import MPTTask, is_public
from eval.compiling.workspace import Workspace
from eval.data.labels.hypotheses import mapping_of
from eval.data.load import load_benchmark
from eval.data.splits import sources_of, split
from eval.run import load_lms, parse_options
from eval.run_config import commit
from prefine_dspy.artifact import load_program, save_program
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.manifest import DataPart, LMPart, Manifest, OptimizerPart, ProgramPart, SplitPart
from programs import load_system
from programs.compilation.estimate import OUTPUT_RATE, PROMPT_RATE, report
from programs.compilation.job import Settings
from programs.compilation.optimizers import OPTIMIZERS
from programs.compilation.parts import PartName, parts_in

BAD_INPUT, OUT_OF_BUDGET, INTERRUPTED = 2, 3, 130
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    program: Annotated[str, typer.Option(help="full_history, or prefine with options if wanted: prefine:K=3")],
    optimizer: Annotated[str, typer.Option(help=" | ".join(OPTIMIZERS))],
    lm: Annotated[str, typer.Option(help="the LM to compile for: local, local:<name>, openai/gpt-5-mini ...")],
    out: Annotated[Path, typer.Option(help="where the program is written, e.g. optimized/prefine-mpt")],
    data: Annotated[str, typer.Option(help="mini, mpt, a build folder, or a file in the released format")] = "mini",
    part: Annotated[Literal["memory", "caller", "both"], typer.Option(help="of prefine: what to compile")] = "both",
    teacher_lm: Annotated[str | None, typer.Option(help="makes traces and proposes instructions [--lm]")] = None,
    memory_lm: Annotated[str | None, typer.Option(help="builds memories [default: --lm]")] = None,
    start: Annotated[str | None, typer.Option(help="a compiled program to begin with")] = None,
    demos: Annotated[int, typer.Option(min=1, help="demonstrations for each predictor")] = 4,
    candidates: Annotated[int, typer.Option(min=1, help="programs compared on dev")] = 3,
    bootstrapped: Annotated[int, typer.Option(min=1, help="good runs whose steps become demonstrations")] = 4,
    trials: Annotated[int, typer.Option(min=0, help="of bootstrap-optuna and mipro [twice the candidates]")] = 0,
    metric_calls: Annotated[int, typer.Option(min=0, help="of gepa [its floor]")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="of simba")] = 2,
    threshold: Annotated[float, typer.Option(help="score at which a history's run is worth showing")] = 0.5,
    builder_metric: Annotated[
        Literal["queries", "proxy"], typer.Option(help="queries: what its memory does; proxy: words, no LM call")
    ] = "queries",
    train_histories: Annotated[int | None, typer.Option(min=1, help="[a third]")] = None,
    dev_histories: Annotated[int | None, typer.Option(min=0, help="[a fifth]")] = None,
    test_histories: Annotated[int | None, typer.Option(min=0, help="[the rest]")] = None,
    bootstrap_histories: Annotated[int, typer.Option(min=1, help="train histories that are run for traces")] = 3,
    queries_per_history: Annotated[int | None, typer.Option(min=1, help="at most, balanced")] = 6,
    seed: Annotated[int, typer.Option(help="of splits and choices")] = 0,
    max_calls: Annotated[int | None, typer.Option(min=0, help="LM calls at most, scores included")] = None,
    dry_run: Annotated[bool, typer.Option(help="print calls, tokens and time, and call no LM")] = False,
    prompt_rate: Annotated[float, typer.Option(min=0.1, help="prompt tokens a second, for --dry-run")] = PROMPT_RATE,
    output_rate: Annotated[float, typer.Option(min=0.1, help="output tokens a second, for --dry-run")] = OUTPUT_RATE,
    resume: Annotated[bool, typer.Option(help="continue a compilation that was killed or ran out of calls")] = False,
    work: Annotated[Path | None, typer.Option(help="journal of LM answers [runs/compile/<name of --out>]")] = None,
    allow_user_text: Annotated[
        bool, typer.Option(help="demonstrations show texts of --data; needed when those are not public")
    ] = False,
) -> None:
    """Compile a program: its demonstrations, or its instructions, for an LM."""
    settings = Settings(demos, candidates, bootstrapped, trials, metric_calls, steps, threshold, seed)
    sizes = {"train": train_histories, "dev": dev_histories, "test": test_histories}
    try:
        if optimizer not in OPTIMIZERS:
            raise InputError(f"no optimizer is called {optimizer!r}; known: {', '.join(OPTIMIZERS)}")
        if not allow_user_text and not is_public(data):
            raise InputError(
                f"demonstrations will show texts of {data} in {out}/program.json: add --allow-user-text if its users "
                "agree, or use public data"
            )
        name, _, pairs = program.partition(":")
        task = _task(
            name,
            parse_options(pairs.split(",") if pairs else []),
            data,
            sizes,
            queries_per_history,
            settings,
            lm,
            memory_lm,
            teacher_lm,
        )
        task.builder_score, task.bootstrap_histories = builder_metric, bootstrap_histories
        began_with, parts = _begin(task, start, part)
        task.parts = parts
        if dry_run:
            typer.echo(_plan(task, parts))
            typer.echo(report(stages(task, began_with, optimizer, parts), prompt_rate, output_rate))
            return
        manifest = _manifest(task, optimizer, parts, start or "")
        folder = work or Path("runs") / "compile" / out.name
        config = {**manifest.model_dump(mode="json"), "versions": {}, "commit": None, "builder_metric": builder_metric}
        with Workspace(folder, config, resume=resume, max_calls=max_calls) as workspace:
            task.check, task.say = workspace.check, _say
            _say(_plan(task, parts))
            result = compile_program(task, began_with, optimizer, parts, workspace)
            done = {"scores": result.scores, "stopped": result.stopped, "cost": workspace.cost()}
            written = save_program(result.program, out, manifest.model_copy(update=done))
    except PrefineError as error:
        _say(f"error: {error}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        _say(f"interrupted; answers so far are kept. Continue with: {_continue_command()}")
        raise typer.Exit(INTERRUPTED) from None
    _show(result, written, out)
    if result.stopped:
        more = f" Go on: {_continue_command()} --max-calls N" if "--max-calls" in result.stopped else ""
        _say(f"stopped: {result.stopped}; the best so far was written.{more}")
        raise typer.Exit(OUT_OF_BUDGET)


def _task(
    program: str,
    options: dict[str, Any],
    data: str,
    sizes: dict[str, int | None],
    per_history: int | None,
    settings: Settings,
    lm: str,
    memory_lm: str | None,
    teacher_lm: str | None,
) -> MPTTask:
    load_system(program, **options)  # an unknown name or option is said before anything is loaded
    benchmark = load_benchmark(data)
    splits = split(benchmark, sources_of(data, benchmark.histories), sizes, settings.seed, per_history)
    main_lm, builder_lm = load_lms(lm, memory_lm)
    _, teacher = load_lms(lm, teacher_lm)
    return MPTTask(program, options, benchmark, splits, mapping_of(data), main_lm, builder_lm, teacher, settings)


def _begin(task: MPTTask, start: str | None, part: str) -> tuple[Any, tuple[PartName, ...]]:
    """The program to begin with, and the parts to be compiled."""
    if start is None:
        program = load_system(task.program, **task.options).program
    else:
        loaded = load_program(start, **task.options)
        if loaded.manifest.program.name != task.program:
            raise InputError(f"{start} is a {loaded.manifest.program.name}, not a {task.program}")
        task.options = {**loaded.manifest.program.options, **task.options}
        program = loaded.program
    there = parts_in(program)
    wanted = there if part == "both" else tuple(name for name in there if name == part)
    if not wanted:
        raise InputError(f"{task.program} has no part {part!r}: use --part {there[0]}")
    return program, wanted


def _manifest(task: MPTTask, optimizer: str, parts: tuple[PartName, ...], start: str) -> Manifest:
    settings = vars(task.settings)
    program = load_system(task.program, **task.options).program
    return Manifest(
        program=ProgramPart(
            name=task.program,
            class_path=f"{type(program).__module__}:{type(program).__qualname__}",
            options=task.options,
        ),
        optimizer=OptimizerPart(
            name=optimizer,
            parts=parts,
            arguments={name: value for name, value in settings.items() if name != "seed"}
            | {"bootstrap_histories": task.bootstrap_histories},
            seed=task.settings.seed,
            metric=task.metric_names(parts),
            started_from=Path(start).name,
        ),
        data=DataPart(
            name=task.benchmark.name,
            identity=task.benchmark.identity,
            splits={
                name: SplitPart(histories=len(one.histories), queries=len(one.instances), identity=one.identity)
                for name, one in task.splits.items()
            },
        ),
        lms={
            "lm": LMPart.of(task.lm),
            "memory_lm": LMPart.of(task.memory_lm),
            "teacher_lm": LMPart.of(task.teacher_lm),
        },
        commit=commit(),
    )


def _plan(task: MPTTask, parts: tuple[PartName, ...]) -> str:
    sizes = ", ".join(
        f"{name} {len(one.histories)} histories ({len(one.instances)} queries)" for name, one in task.splits.items()
    )
    return f"{task.program} ({', '.join(parts)}) on {task.benchmark.name}: {sizes}"


def _show(result: Compiled, manifest: Manifest, out: Path) -> None:
    for note in result.notes:
        typer.echo(note)
    if result.scores:
        typer.echo(table(result.scores))
    cost = manifest.cost
    typer.echo(
        f"{cost.lm_calls} LM calls, {cost.input_tokens} tokens in, {cost.output_tokens} out, {cost.seconds:.0f} s of LM"
    )
    test = result.scores.get("test")
    gain = test.difference.get("o_f1") if test else None
    if gain is not None:
        better = (
            "better than" if gain.low > 0 else "not shown to be better than" if gain.value > 0 else "no better than"
        )
        typer.echo(f"on test it is {better} the uncompiled program (O-F1 {100 * gain.value:+.1f})")
    typer.echo(f"written to {out}; use it: python -m eval.run --program {shlex.quote(str(out))} ...")


def _continue_command() -> str:
    words = list(sys.argv[1:])
    if "--max-calls" in words:
        at = words.index("--max-calls")
        del words[at : at + 2]
    return shlex.join(["python", "-m", "programs.compile", *words, *([] if "--resume" in words else ["--resume"])])


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    app()
