"""`python -m eval.run`: score programs on a benchmark with any LM.

Exit codes: 0 complete, 1 too many items failed or too many LM errors in a row, 2 bad input, 3 stopped by --max-calls,
130 interrupted. After 1, 3 and 130 (and after any kill) the same command with --resume goes on.
"""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal

import typer

from eval.engines.on_worker import task_on_worker
from eval.engines.ray_engine import RayEngine
from eval.envs.load import NAMES
from eval.failures import LMErrorsInARowError
from eval.journal import read_lines
from eval.preparation import Asked, prepare
from eval.run_config import RunConfig
from eval.run_folder import RunFolder
from eval.runner import run
from eval.tasks.kinds import KINDS
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError

FAILED, BAD_INPUT, OUT_OF_BUDGET, INTERRUPTED = 1, 2, 3, 130
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    program: Annotated[
        list[str],
        typer.Option(help="a program, with options of its own if wanted: prefine:record=full,K=3; repeatable"),
    ],
    lm: Annotated[str, typer.Option(help="the LM that answers queries: local, local:<name>, openai/gpt-5-mini ...")],
    out: Annotated[str, typer.Option(help="the run's folder")],
    data: Annotated[
        str,
        typer.Option(
            help="decides the benchmark. MPT: mini, mpt, a file in its released format, a build folder. "
            "NLSI: mini_nlsi, nlsi, a folder with train, validation and test.jsonl, a file in its format. "
            f"Episodes: {NAMES} ..."
        ),
    ] = "mini",
    query: Annotated[
        Literal["cg", "cf", "both"] | None,
        typer.Option(help="MPT: context-guided, context-free, or both [default: both]"),
    ] = None,
    memory_lm: Annotated[str | None, typer.Option(help="MPT: the LM that builds memories [default: --lm]")] = None,
    schema: Annotated[
        Literal["base", "extended", "both"] | None,
        typer.Option(help="MPT: extended is functions that no history holds [default: base]"),
    ] = None,
    memories: Annotated[
        str | None, typer.Option(help="MPT: the folder of a run whose memories are taken instead of built again")
    ] = None,
    split: Annotated[
        Literal["train", "validation", "dev", "test"] | None,
        typer.Option(help="NLSI: which split [default: test]; episodes: train, dev or test [default: all of builtin]"),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="episodes: how often each task is played [default: 1]")
    ] = None,
    user_lm: Annotated[str | None, typer.Option(help="episodes: the LM that plays the user, where one does")] = None,
    judge_lm: Annotated[str | None, typer.Option(help="episodes: the LM that judges [default: --user-lm]")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="episodes: steps after which one is given up [default: the environment's]")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="instances (of episodes: tasks), balanced over their types")
    ] = None,
    seed: Annotated[int, typer.Option(help="for the choice of --limit instances")] = 0,
    option: Annotated[list[str] | None, typer.Option(help="key=value for every program; repeatable")] = None,
    resume: Annotated[bool, typer.Option(help="continue the run in --out; begins it when there is none")] = False,
    num_threads: Annotated[int, typer.Option(min=1, help="histories, dialogues or tasks worked on at once")] = 1,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="ray: --num-threads processes of a Ray cluster do the work")
    ] = "local",
    ray_address: Annotated[
        str | None, typer.Option(help="of a running cluster, HOST:PORT or auto [default: one on this machine]")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="LM calls at most, over the run and its resumptions")
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="say what would be done, call no LM and write nothing")] = False,
    max_failures: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="exit with 1 when more items or updates failed (lm_error, parse_error)"),
    ] = 0.2,
) -> None:
    """Score programs on a benchmark."""
    asked = Asked(
        program,
        data,
        lm,
        memory_lm,
        query,
        schema,
        split,
        limit,
        seed,
        tuple(option or ()),
        memories=memories,
        user_lm=user_lm,
        judge_lm=judge_lm,
        trials=trials,
        max_steps=max_steps,
    )
    try:
        if not out.strip():
            raise InputError("--out is empty: name the run's folder, e.g. --out runs/first")
        if memories is not None and Path(memories).resolve() == Path(out).resolve():
            raise InputError("--memories names this run's own folder: leave it out, or give another --out")
        if ray_address is not None and engine != "ray":
            raise InputError("--ray-address is for --engine ray: add that, or leave it out")
        with _stopping_on_signals():
            task, config = prepare(asked)
            if dry_run:
                typer.echo(_plan(config, Path(out)))
                return
            with RunFolder(Path(out), config, resume=resume) as folder:
                for warning in folder.warnings:
                    _say(f"note: {warning}")
                there = partial(task_on_worker, asked._asdict(), config, os.getcwd())
                place = None if engine == "local" else RayEngine(there, ray_address)
                summary = run(folder, task, num_threads=num_threads, max_calls=max_calls, engine=place)
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
    typer.echo(KINDS[config.task].presentation.brief(summary))
    typer.echo(f"\nwritten to {out}; tables and plots: python -m eval.report {shlex.quote(out)}")
    shares = {"items": summary["failed_share"], "memory updates": summary["failed_update_share"]}
    failed = [f"{share:.0%} of the {what}" for what, share in shares.items() if share > max_failures]
    if failed:
        _say(
            f"{' and '.join(failed)} ended in lm_error or parse_error, more than --max-failures "
            f"{max_failures:g}; LM errors that may pass are tried again by: {_continue_command()}"
        )
        raise typer.Exit(FAILED)


def _plan(config: RunConfig, out: Path) -> str:
    """What a run would do, in a few lines."""
    items = config.instances * len(config.programs)
    done = len(read_lines(out / "items.jsonl"))
    lms = {"LM": config.lm, "memories": config.memory_lm, "user": config.user_lm, "judge": config.judge_lm}
    lines = [
        f"data: {config.data}, {config.instances} instances x {len(config.programs)} programs = {items} items, "
        f"{done} of them done in {out}",
        *(f"program: {one.label}" for one in config.programs),
        *(f"{role}: {one.model}" for role, one in lms.items() if one and (role != "memories" or one != config.lm)),
    ]
    if config.trials is not None:
        limit = "the environment's own limit" if config.max_steps is None else f"{config.max_steps} steps"
        lines.append(f"episodes: {config.trials} a task, each up to {limit}")
    return "\n".join([*lines, "dry run: no LM was called and nothing was written"])


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
