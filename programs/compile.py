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
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eval.compiling import episodes_source, mpt, nlsi, nlsi_source, nlsi_tagger, predictive
from eval.compiling.begin import begin_episodes, begin_mpt, begin_nlsi, begin_predictive, load_mpt_task
from eval.compiling.flow import Compiled, compile_program
from eval.compiling.scores import table
from eval.compiling.task import Task
from eval.compiling.workspace import Workspace
from eval.data.logs import FORMAT, is_call_log
from eval.lms import load_lms
from eval.options import parse_program
from eval.run_config import commit
from prefine_dspy.artifact import save_program
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.manifest import Manifest, OptimizerPart, ProgramPart
from programs import SYSTEMS, load_system
from programs.compilation.estimate import OUTPUT_RATE, PROMPT_RATE, report
from programs.compilation.job import Settings
from programs.compilation.optimizers import OPTIMIZERS
from programs.tag_tables import load_tags

BAD_INPUT, OUT_OF_BUDGET, INTERRUPTED = 2, 3, 130
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


# what an optimizer is told when the command line does not say it; for NLSI the settings of TAPS
MPT_SETTINGS = Settings()
NLSI_SETTINGS = Settings(demos=5, candidates=10, bootstrapped=5, seed=42)
SETTINGS = {"nlsi": NLSI_SETTINGS, "mpt": MPT_SETTINGS, "episodes": Settings(demos=3)}
SOURCES: dict[str, Any] = {"nlsi": nlsi_source, "mpt": mpt, "episodes": episodes_source}
OWN_DATA = {"nlsi": "mini_nlsi", "episodes": "builtin"}


@app.command()
def main(
    program: Annotated[
        str,
        typer.Option(
            help="full_history, prefine, predictive (MPT); interpret, ext_tag, joint_tag, taps, select, "
            "select_then_interpret, tagger (NLSI); idss, react, stateact, resum, iterresearch, ufold (episodes); "
            "with options if wanted: prefine:K=3"
        ),
    ],
    optimizer: Annotated[str, typer.Option(help=" | ".join(OPTIMIZERS))],
    lm: Annotated[str, typer.Option(help="the LM to compile for: local, local:<name>, openai/gpt-5-mini ...")],
    out: Annotated[Path, typer.Option(help="where the program is written, e.g. optimized/prefine-mpt")],
    data: Annotated[
        str | None,
        typer.Option(
            help="MPT: mini, mpt, a build folder, or a file in the released format [mini]; "
            "with --metric predictive also call logs, a JSON Lines file of OpenAI chat messages, one session a line: "
            f"{FORMAT}; "
            "NLSI: mini_nlsi, nlsi, or a folder with train, validation and test.jsonl [mini_nlsi]; "
            "episodes: builtin, tau:retail [builtin]"
        ),
    ] = None,
    part: Annotated[
        str,
        typer.Option(
            help="all, or one: memory, caller, learned; interpreter, tagger, default, tagged, gate, selector; agent"
        ),
    ] = "all",
    metric: Annotated[
        Literal["em", "f1", "predictive"] | None,
        typer.Option(
            help="MPT: predictive, how well a memory predicts later sessions, without labels [the calls it leads to]; "
            "NLSI: em or f1 of calls and of the gate, em length-checked [em]"
        ),
    ] = None,
    teacher_lm: Annotated[str | None, typer.Option(help="makes traces and proposes instructions [--lm]")] = None,
    memory_lm: Annotated[str | None, typer.Option(help="builds memories [default: --lm]")] = None,
    tagger_lm: Annotated[str | None, typer.Option(help="NLSI: tags instructions [default: --lm]")] = None,
    user_lm: Annotated[str | None, typer.Option(help="episodes: the LM that plays the user, where one does")] = None,
    tags: Annotated[
        list[Path] | None,
        typer.Option(
            help="NLSI: CSV (org,aug) with gold tags of train and validation [the data's tags.csv]; repeatable"
        ),
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="a compiled program to begin with; NLSI: or a compiled tagger")
    ] = None,
    demos: Annotated[int | None, typer.Option(min=1, help="demonstrations for each predictor [4; NLSI: 5]")] = None,
    candidates: Annotated[int | None, typer.Option(min=1, help="programs compared on dev [3; NLSI: 10]")] = None,
    bootstrapped: Annotated[
        int | None, typer.Option(min=1, help="good runs whose steps become demonstrations [4; NLSI: 5]")
    ] = None,
    trials: Annotated[int, typer.Option(min=0, help="of bootstrap-optuna and mipro [twice the candidates]")] = 0,
    metric_calls: Annotated[int, typer.Option(min=0, help="of gepa [its floor]")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="of simba")] = 2,
    threshold: Annotated[
        float | None,
        typer.Option(help="score at which a history's run is worth showing [0.5; --metric predictive: 0.55]"),
    ] = None,
    builder_metric: Annotated[
        Literal["queries", "proxy"], typer.Option(help="queries: what its memory does; proxy: words, no LM call")
    ] = "queries",
    train_histories: Annotated[int | None, typer.Option(min=1, help="MPT [a third]")] = None,
    dev_histories: Annotated[int | None, typer.Option(min=0, help="MPT [a fifth]")] = None,
    test_histories: Annotated[int | None, typer.Option(min=0, help="MPT [the rest]")] = None,
    bootstrap_histories: Annotated[int, typer.Option(min=1, help="MPT: train histories that are run for traces")] = 3,
    queries_per_history: Annotated[int | None, typer.Option(min=1, help="MPT: at most, balanced")] = 6,
    dev_instances: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=f"NLSI: of validation, balanced over reasoning types [{nlsi_source.DEV_INSTANCES}]; episodes [all]",
        ),
    ] = None,
    test_instances: Annotated[
        int | None,
        typer.Option(min=0, help=f"NLSI: of test, balanced [{nlsi_source.TEST_INSTANCES}]; episodes [all]"),
    ] = None,
    bootstrap_instances: Annotated[
        int, typer.Option(min=1, help="NLSI: train instances that are run for traces, balanced; episodes: train tasks")
    ] = nlsi.BOOTSTRAP_INSTANCES,
    seed: Annotated[int | None, typer.Option(help="of splits and choices [0; NLSI: 42]")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="episodes: actions after which one is given up [the benchmark's]")
    ] = None,
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
    try:
        if optimizer not in OPTIMIZERS:
            raise InputError(f"no optimizer is called {optimizer!r}; known: {', '.join(OPTIMIZERS)}")
        name, options = parse_program(program)
        if "tagger_lm" in options:
            raise InputError("the tagger's LM is given as --tagger-lm NAME")
        load_system(name, **options)  # an unknown name or option is said before anything is loaded
        kind = _kind(name)
        given = {"demos": demos, "candidates": candidates, "bootstrapped": bootstrapped, "seed": seed}
        stated = {key: value for key, value in given.items() if value is not None}
        settings = replace(
            SETTINGS.get(kind, MPT_SETTINGS),
            trials=trials,
            metric_calls=metric_calls,
            steps=steps,
            threshold=_threshold(threshold, metric),
            **stated,
        )
        _check_metric(kind, metric)
        _check_sizes(kind, [train_histories, dev_histories, test_histories], [dev_instances, test_instances])
        data = data or OWN_DATA.get(kind, "mini")
        if is_call_log(data) and metric != "predictive":
            raise InputError(f"{data} holds call logs, which have no gold: add --metric predictive")
        # what is learned beside the prompts is checked on its own: programs.compilation.private
        shows_text = part != predictive.LEARNED
        if shows_text and not allow_user_text and not SOURCES.get(kind, mpt).is_public(data):
            without = f", or compile --part {predictive.LEARNED} alone" if metric == "predictive" else ""
            raise InputError(
                f"demonstrations will show texts of {data} in {out}/program.json: add --allow-user-text if its users "
                f"agree, or use public data{without}"
            )
        task: Task
        if kind == "nlsi":
            gold = {text: tagged for file in tags or () for text, tagged in load_tags(file).items()}
            source = nlsi_source.load_source(data, dev_instances, test_instances, settings.seed, gold)
            main_lm, teacher = load_lms(lm, teacher_lm)
            tagger = load_lms(lm, tagger_lm)[1] if tagger_lm else None
            figure: Literal["em", "f1"] = "f1" if metric == "f1" else "em"
            make = {"tagger": nlsi_tagger.TaggerTask}.get(name, nlsi.NlsiTask)
            nlsi_task = make(name, {}, source, main_lm, teacher, tagger, settings, figure, bootstrap_instances)
            began_with, parts = begin_nlsi(nlsi_task, options, start, part)
            task = nlsi_task
        elif kind == "episodes":
            counts = {"train": bootstrap_instances, "dev": dev_instances, "test": test_instances}
            task, began_with, parts = begin_episodes(
                name, options, data, counts, settings, optimizer, lm, teacher_lm, user_lm, max_steps, start, part
            )
        elif metric == "predictive":
            sizes = {"train": train_histories, "dev": dev_histories, "test": test_histories}
            task, began_with, parts = begin_predictive(
                name, options, data, sizes, settings, optimizer, lm, memory_lm, teacher_lm, start, part
            )
            task.bootstrap_histories = bootstrap_histories
        else:
            sizes = {"train": train_histories, "dev": dev_histories, "test": test_histories}
            mpt_task = load_mpt_task(
                name, options, data, sizes, queries_per_history, settings, lm, memory_lm, teacher_lm
            )
            mpt_task.builder_score, mpt_task.bootstrap_histories = builder_metric, bootstrap_histories
            began_with, parts = begin_mpt(mpt_task, start, part)
            mpt_task.parts = parts
            task = mpt_task
        if dry_run:
            typer.echo(_plan(task, parts))
            typer.echo(report(task.stages(began_with, optimizer, parts), prompt_rate, output_rate))
            return
        manifest = _manifest(task, began_with, optimizer, parts, start or "")
        folder = work or Path("runs") / "compile" / out.name
        config = {**manifest.model_dump(mode="json"), "versions": {}, "commit": None, "builder_metric": builder_metric}
        with Workspace(folder, config, resume=resume, max_calls=max_calls) as workspace:
            task.watch(workspace.check, _say)
            _say(_plan(task, parts))
            result = compile_program(task, began_with, optimizer, parts, workspace)
            done = {"scores": result.scores, "stopped": result.stopped, "cost": workspace.cost()}
            written = save_program(result.program, out, _with_calibrated(manifest, result).model_copy(update=done))
    except PrefineError as error:
        _say(f"error: {error}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        _say(f"interrupted; answers so far are kept. Continue with: {_continue_command()}")
        raise typer.Exit(INTERRUPTED) from None
    _show(task, result, written, out)
    if result.stopped:
        more = f" Go on: {_continue_command()} --max-calls N" if "--max-calls" in result.stopped else ""
        _say(f"stopped: {result.stopped}; the best so far was written.{more}")
        raise typer.Exit(OUT_OF_BUDGET)


def _threshold(given: float | None, metric: str | None) -> float:
    """A memory that says nothing scores 0.5 when it is judged by what it predicts."""
    if given is not None:
        return given
    return predictive.WORTH_SHOWING if metric == "predictive" else MPT_SETTINGS.threshold


def _check_metric(kind: str, metric: str | None) -> None:
    if metric is None or (kind == "nlsi" and metric != "predictive") or (kind == "mpt" and metric == "predictive"):
        return
    if kind == "nlsi":
        raise InputError("--metric predictive is for --program prefine or predictive: use --metric em or f1")
    more = " or give predictive" if kind == "mpt" else ""
    raise InputError(f"--metric {metric} is not for this program: leave it out{more}")


def _kind(program: str) -> str:
    """The benchmark that a program is compiled on; a tagger's instructions are NLSI's."""
    task = SYSTEMS[program].task if program in SYSTEMS else ""
    return "nlsi" if task == "tags" else task


def _check_sizes(kind: str, histories: list[int | None], instances: list[int | None]) -> None:
    """The sizes of the other benchmark's splits would be ignored."""
    if kind in ("nlsi", "episodes") and any(size is not None for size in histories):
        title = "NLSI" if kind == "nlsi" else "episodes"
        raise InputError(f"{title} has no histories: use --dev-instances and --test-instances")
    if kind not in ("nlsi", "episodes") and any(size is not None for size in instances):
        raise InputError("MPT is split by history: use --dev-histories and --test-histories")


def _manifest(task: Task, program: Any, optimizer: str, parts: tuple[str, ...], start: str) -> Manifest:
    settings = vars(task.settings)
    return Manifest(
        program=ProgramPart(
            name=task.program,
            class_path=f"{type(program).__module__}:{type(program).__qualname__}",
            options=task.options,
        ),
        optimizer=OptimizerPart(
            name=optimizer,
            parts=parts,
            arguments={name: value for name, value in settings.items() if name != "seed"} | task.arguments(),
            seed=task.settings.seed,
            metric=task.metric_names(parts),
            started_from=Path(start).name,
        ),
        data=task.data_part(),
        lms=task.lm_parts(),
        commit=commit(),
    )


def _with_calibrated(manifest: Manifest, result: Compiled) -> Manifest:
    """The figures that were chosen are options of the program; how they were chosen is said beside the arguments."""
    options, arguments = dict(manifest.program.options), dict(manifest.optimizer.arguments)
    for part, chosen in result.calibrated.items():
        options |= chosen.options
        arguments[part] = chosen.record
    return manifest.model_copy(
        update={
            "program": manifest.program.model_copy(update={"options": options}),
            "optimizer": manifest.optimizer.model_copy(update={"arguments": arguments}),
        }
    )


def _plan(task: Task, parts: tuple[str, ...]) -> str:
    return f"{task.program} ({', '.join(parts)}) on {task.sizes()}"


def _show(task: Task, result: Compiled, manifest: Manifest, out: Path) -> None:
    for note in result.notes:
        typer.echo(note)
    for chosen in result.calibrated.values():
        typer.echo(chosen.table)
    if result.scores:
        typer.echo(table(result.scores))
    cost = manifest.cost
    typer.echo(
        f"{cost.lm_calls} LM calls, {cost.input_tokens} tokens in, {cost.output_tokens} out, {cost.seconds:.0f} s of LM"
    )
    test = result.scores.get("test")
    gain = test.difference.get(task.main_figure) if test else None
    if gain is not None:
        better = (
            "better than" if gain.low > 0 else "not shown to be better than" if gain.value > 0 else "no better than"
        )
        figure = task.main_figure.replace("_", "-").upper()
        typer.echo(f"on test it is {better} the uncompiled program ({figure} {100 * gain.value:+.1f})")
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
