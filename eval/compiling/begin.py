"""What a compilation begins with: the task, the program as it is before, and the parts to be compiled.

One function a benchmark; `programs.compile` calls the one of its program.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.compiling import episodes, episodes_source, mpt, nlsi, predictive
from eval.compiling.predictive_source import load_histories
from eval.data.labels.hypotheses import mapping_of
from eval.data.load import load_benchmark
from eval.data.splits import sources_of, split
from eval.lms import load_lms
from prefine_dspy.artifact import LoadedProgram, load_program
from prefine_dspy.errors import InputError
from prefine_dspy.manifest import Manifest
from programs import load_system
from programs.compilation.episode_parts import PART
from programs.compilation.job import Settings
from programs.compilation.nlsi_parts import module_at, nlsi_parts, tagger_part
from programs.compilation.parts import graft, parts_in
from programs.program_options import options_of
from programs.tag_tables import identity, table_of


def _started(name: str, options: dict[str, Any], start: str | None) -> tuple[Any, dict[str, Any]]:
    """The program to begin with, and its options: those of a compiled one under those of the command line."""
    if start is None:
        return load_system(name, **options).program, options
    loaded = load_program(start, **options)
    _check_start(start, loaded.manifest, name)
    return loaded.program, {**loaded.manifest.program.options, **options}


def load_mpt_task(
    program: str,
    options: dict[str, Any],
    data: str,
    sizes: dict[str, int | None],
    per_history: int | None,
    settings: Settings,
    lm: str,
    memory_lm: str | None,
    teacher_lm: str | None,
) -> mpt.MPTTask:
    """The task, on the splits of a benchmark's histories."""
    benchmark = load_benchmark(data)
    splits = split(benchmark, sources_of(data, benchmark.histories), sizes, settings.seed, per_history)
    main_lm, builder_lm = load_lms(lm, memory_lm)
    _, teacher = load_lms(lm, teacher_lm)
    return mpt.MPTTask(program, options, benchmark, splits, mapping_of(data), main_lm, builder_lm, teacher, settings)


def begin_mpt(task: mpt.MPTTask, start: str | None, part: str) -> tuple[Any, tuple[str, ...]]:
    """The program to begin with, and the parts to be compiled.

    Raises:
        InputError: the program of `start` is another one, or there is no such part.
    """
    program, task.options = _started(task.program, task.options, start)
    return program, _wanted(task.program, parts_in(program), part)


def begin_predictive(
    name: str,
    options: dict[str, Any],
    data: str,
    sizes: dict[str, int | None],
    settings: Settings,
    optimizer: str,
    lm: str,
    memory_lm: str | None,
    teacher_lm: str | None,
    start: str | None,
    part: str,
) -> tuple[predictive.PredictiveTask, Any, tuple[str, ...]]:
    """The task without labels, the program to begin with, and the parts to be compiled."""
    program, options = _started(name, options, start)
    main_lm, builder_lm = load_lms(lm, memory_lm)
    _, teacher = load_lms(lm, teacher_lm)
    histories = load_histories(data, sizes, settings.seed)
    task = predictive.PredictiveTask(name, options, histories, main_lm, builder_lm, teacher, settings)
    parts = _wanted(name, task.parts(), part)
    if optimizer == "labeled" and "memory" in parts:
        raise InputError(
            "labeled writes demonstrations from labels, and --metric predictive reads none: use --optimizer "
            f"bootstrap-rs or gepa, or --part {predictive.LEARNED}"
        )
    return task, program, parts


def begin_nlsi(
    task: nlsi.NlsiTask, options: dict[str, Any], start: str | None, part: str
) -> tuple[Any, tuple[str, ...]]:
    """The program to begin with, and the parts to be compiled.

    The options of a system and those of the library's program differ: tables of tags and the tagger's LM belong to the
    run that uses them, not to what is saved. A program with a tagger may also begin with a tagger that was compiled
    alone.
    """
    if task.program == "one_shot":
        raise InputError("one_shot has one fixed demonstration: compile interpret")
    kind = type(load_system(task.program, **options).program)
    known = options_of(kind).parameters
    if task.tagger_lm is not None and "lm" not in known:
        raise InputError(f"{task.program} has no tagger: leave out --tagger-lm")
    loaded = None if start is None else load_program(start)
    alone = loaded is not None and loaded.manifest.program.name == "tagger" != task.program
    if loaded is not None and not alone:
        _check_start(str(start), loaded.manifest, task.program)
        task.options = dict(loaded.manifest.program.options)
    if loaded is not None and alone:  # which of its demonstrations a tagger shows goes with them
        given = loaded.manifest.program.options
        task.options = {f"tag_{name}": given[name] for name in ("nearest", "fixed") if given.get(name)}
    task.options |= {key: value for key, value in options.items() if key in known}
    tags = options.get("tags")
    run = {"lm": task.tagger_lm, "table": table_of(tags)}
    task.table = "" if tags is None else f"{Path(tags).name} {identity(tags)}"
    program = kind(**task.options, **{key: value for key, value in run.items() if key in known})
    if loaded is not None:
        program = graft(loaded.program, program, _tagger_in(program, str(start), loaded) if alone else "")
    return program, _wanted(task.program, [one.name for one in nlsi_parts(program)], part)


def begin_episodes(
    name: str,
    options: dict[str, Any],
    data: str,
    sizes: dict[str, int | None],
    settings: Settings,
    optimizer: str,
    lm: str,
    teacher_lm: str | None,
    user_lm: str | None,
    max_steps: int | None,
    start: str | None,
    part: str,
) -> tuple[episodes.EpisodesTask, Any, tuple[str, ...]]:
    """The task, the agent to begin with, and the parts to be compiled."""
    episodes.check_optimizer(optimizer)
    program, options = _started(name, options, start)
    main_lm, teacher = load_lms(lm, teacher_lm)
    user = load_lms(lm, user_lm)[1] if user_lm else None
    source = episodes_source.load_source(data, sizes, settings.seed, user)
    task = episodes.EpisodesTask(name, options, source, main_lm, teacher, user, settings, max_steps)
    return task, program, _wanted(name, [PART], part)


def _tagger_in(program: Any, start: str, loaded: LoadedProgram) -> str:
    """The path at which a program takes over a compiled tagger."""
    part = tagger_part(program)
    if part is None:
        raise InputError(f"{start} is a tagger, and this program has none: leave out --start")
    form, given = module_at(program, part.path).form, loaded.manifest.program.options.get("form", "values")
    if given != form:
        raise InputError(f"{start} writes {given}, and this program reads {form}: compile tagger:form={form}")
    return part.path


def _check_start(start: str, manifest: Manifest, program: str) -> None:
    if manifest.program.name != program:
        raise InputError(f"{start} is a {manifest.program.name}, not a {program}")


def _wanted(program: str, there: Sequence[str], part: str) -> tuple[str, ...]:
    wanted = tuple(name for name in there if part in ("all", name))
    if not wanted:
        raise InputError(f"{program} has no part {part!r}: use --part {' or '.join(there)}")
    return wanted
