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
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, NamedTuple

import dspy
import typer
from dspy.utils.exceptions import DSPyError

from eval.engines.on_worker import task_on_worker
from eval.engines.ray_engine import RayEngine
from eval.envs.load import NAMES
from eval.failures import LMErrorsInARowError
from eval.journal import read_lines
from eval.run_config import LMConfig, ProgramConfig, RunConfig, fingerprint
from eval.run_folder import RunFolder
from eval.runner import run
from eval.tasks.kinds import KINDS, kind_of
from eval.tasks.mpt import MPTTask
from eval.tasks.task import Task
from prefine_dspy import lm as lms
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError
from programs import SYSTEMS, compiled_options, file_identities, load_system, systems_for

FAILED, BAD_INPUT, OUT_OF_BUDGET, INTERRUPTED = 1, 2, 3, 130
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Asked(NamedTuple):
    """What decides a run's results, as the command line gives it; None where an option was left out."""

    programs: list[str]
    data: str
    lm: str
    memory_lm: str | None = None
    query: str | None = None
    schema: str | None = None
    split: str | None = None
    limit: int | None = None
    seed: int = 0
    options: tuple[str, ...] = ()
    memories: str | None = None
    user_lm: str | None = None
    judge_lm: str | None = None
    trials: int | None = None
    max_steps: int | None = None


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


def prepare(asked: Asked) -> tuple[Task, RunConfig]:
    """Load everything a run needs and say what it is.

    Raises:
        InputError: an unknown name, a file that cannot be used, an option or program that is not for this data, two LMs
            that the cache cannot tell apart.
    """
    task = kind_of(asked.data)
    settings = _settings(asked, task)
    systems, described = load_programs(asked, task)
    chosen = KINDS[task].load(asked.data, asked.limit, asked.seed, **settings)
    lm, memory_lm = load_lms(asked.lm, asked.memory_lm)
    playing = load_playing_lms(asked, chosen.lms, lm)
    roles: dict[str, Any] = {role: LMConfig.of(name, one) for role, (name, one) in playing.items()}
    config = RunConfig(
        task=task,
        programs=described,
        lm=LMConfig.of(asked.lm, lm),
        memory_lm=LMConfig.of(asked.memory_lm or asked.lm, memory_lm),
        **roles,
        limit=asked.limit,
        seed=asked.seed,
        **chosen.config,
    )
    made = chosen.task(systems, lm, memory_lm, **{role: one for role, (_, one) in playing.items()})
    if asked.memories is None:
        return made, config
    if not isinstance(made, MPTTask):
        raise InputError(f"--memories is for MPT, and --data {asked.data} is {KINDS[task].title}'s: leave it out")
    return made, made.reuse(Path(asked.memories), config, asked.data)


def _settings(asked: Asked, task: str) -> dict[str, Any]:
    """The options of `eval.run` that say which part of the data is wanted, with their defaults.

    Raises:
        InputError: an option that only another benchmark has.
    """
    here = KINDS[task]
    for kind in KINDS.values():
        wrong = sorted(name for name in kind.options - here.options if getattr(asked, name) is not None)
        if wrong:
            raise InputError(
                f"--{wrong[0].replace('_', '-')} is for {kind.title}, and --data {asked.data} is {here.title}'s: "
                f"leave it out, or give --data {kind.own_data}"
            )
    if asked.split is not None and asked.split not in here.splits:
        raise InputError(f"{here.title} has no split {asked.split!r}: give --split {' or '.join(here.splits)}")
    given = {name: getattr(asked, name) for name in here.settings}
    return {name: default if given[name] is None else given[name] for name, default in here.settings.items()}


def load_programs(asked: Asked, task: str) -> tuple[dict[str, Any], list[ProgramConfig]]:
    """The programs by label, and what they are.

    Raises:
        InputError: an unknown program or option, or a program that answers the instances of another benchmark.
    """
    shared = parse_options(list(asked.options))
    systems: dict[str, Any] = {}
    described = []
    for label in dict.fromkeys(asked.programs):
        name, own = parse_program(label)
        options = {**shared, **own}
        system = load_system(name, **options)
        if SYSTEMS[system.name].task not in KINDS:
            raise InputError(f"{name} tags instructions and answers nothing else: use python -m eval.tagging")
        if SYSTEMS[system.name].task != task:
            raise InputError(
                f"{name} answers {KINDS[SYSTEMS[system.name].task].title}, not {KINDS[task].title} "
                f"(--data {asked.data}); for this data: {', '.join(systems_for(task))}"
            )
        systems[label] = system
        described.append(
            ProgramConfig(
                label=label,
                name=name,
                options=options,
                fingerprint=fingerprint(system.program, compiled_options(name)),
                files=file_identities(options),
                memory=system.describe() if hasattr(system, "describe") else None,
            )
        )
    return systems, described


def load_lms(name: str, memory_name: str | None) -> tuple[dspy.LM, dspy.LM]:
    """The inference LM and the memory LM, both with their cache on.

    Raises:
        InputError: unknown names, or two LMs at different addresses under one model string: they would share answers.
    """
    lm = _resolved(name)
    if memory_name is None or memory_name == name:
        return lm, lm
    memory_lm = _resolved(memory_name)
    _check_apart({"--lm": lm, "--memory-lm": memory_lm})
    return lm, memory_lm


def load_playing_lms(asked: Asked, roles: tuple[str, ...], lm: dspy.LM) -> dict[str, tuple[str, dspy.LM]]:
    """Those of "user_lm" and "judge_lm" that a benchmark asks, each with its name; the judge is the user's LM unless
    another is named.

    Raises:
        InputError: the user's is not named, or as `load_lms`.
    """
    names = {"user_lm": asked.user_lm, "judge_lm": asked.judge_lm or asked.user_lm}
    for role in ("user_lm", "judge_lm"):
        if getattr(asked, role) is not None and role not in roles:
            _say(f"note: --{role.replace('_', '-')} is not used: no LM has that part in {asked.data}")
    if not roles and (asked.trials or 1) > 1 and lm.kwargs.get("temperature") == 0:
        _say("note: at temperature 0, with users that follow a script, all trials of a task are the same")
    loaded = {asked.lm: lm}
    for role in roles:
        name = names[role]
        if name is None:
            raise InputError(
                f"{asked.data} has users that an LM plays: name it with --user-lm, or give --data builtin, "
                "whose users follow a script"
            )
        if name not in loaded:
            loaded[name] = _resolved(name)
    _check_apart({f"the LM {name}": one for name, one in loaded.items()})
    return {role: (str(names[role]), loaded[str(names[role])]) for role in roles}


def _check_apart(named: dict[str, dspy.LM]) -> None:
    """Raises InputError when two LMs at different addresses have one model string: they would share answers."""
    addresses: dict[str, tuple[str, Any]] = {}
    for name, lm in named.items():
        address = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
        other, before = addresses.setdefault(lm.model, (name, address))
        if before != address:
            raise InputError(
                f"{other} and {name} are both called {lm.model} but have different addresses; "
                "answers would be mixed up: name them apart, e.g. llama-server:URL#model"
            )


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
