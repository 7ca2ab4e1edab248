"""What the command line of `eval.run` asks for, and everything that a run needs for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import dspy
import typer

from eval.lms import check_apart, load_lms, resolved
from eval.options import parse_options, parse_program
from eval.run_config import LMConfig, ProgramConfig, RunConfig, fingerprint
from eval.tasks.kinds import KINDS, kind_of
from eval.tasks.mpt import MPTTask
from eval.tasks.task import Task
from prefine_dspy.errors import InputError
from programs import SYSTEMS, compiled_options, file_identities, load_system, systems_for


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
        raise InputError(f"--memories is for MPT, and --data {asked.data} is for {KINDS[task].title}: leave it out")
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
                f"--{wrong[0].replace('_', '-')} is for {kind.title}, and --data {asked.data} is for {here.title}: "
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


def load_playing_lms(asked: Asked, roles: tuple[str, ...], lm: dspy.LM) -> dict[str, tuple[str, dspy.LM]]:
    """Those of "user_lm" and "judge_lm" that a benchmark asks, each with its name; the judge is the user's LM unless
    another is named.

    Raises:
        InputError: the user's is not named, or as `load_lms`.
    """
    names = {"user_lm": asked.user_lm, "judge_lm": asked.judge_lm or asked.user_lm}
    for role in ("user_lm", "judge_lm"):
        if getattr(asked, role) is not None and role not in roles:
            note(f"note: --{role.replace('_', '-')} is not used: no LM has that part in {asked.data}")
    if not roles and (asked.trials or 1) > 1 and lm.kwargs.get("temperature") == 0:
        note("note: at temperature 0, with users that follow a script, all trials of a task are the same")
    loaded = {asked.lm: lm}
    for role in roles:
        name = names[role]
        if name is None:
            raise InputError(
                f"{asked.data} has users that an LM plays: name it with --user-lm, or give --data builtin, "
                "whose users follow a script"
            )
        if name not in loaded:
            loaded[name] = resolved(name)
    check_apart({f"the LM {name}": one for name, one in loaded.items()})
    return {role: (str(names[role]), loaded[str(names[role])]) for role in roles}


def note(text: str) -> None:
    """Something worth knowing that stops nothing."""
    typer.echo(text, err=True)
