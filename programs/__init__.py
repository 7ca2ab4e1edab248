"""One file per system of the papers: how it maps an instance to tool calls."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from prefine_dspy.errors import InputError
from programs.episode_system import EpisodeSystem
from programs.nlsi_system import NlsiSystem
from programs.system import System

TaskName = Literal["mpt", "nlsi", "episodes", "tags"]


class Entry(NamedTuple):
    """Args:
    task: what it answers: "mpt" (`System`), "nlsi" (`NlsiSystem`), or interactive benchmarks, "episodes"
        (`EpisodeSystem`). "tags" answers none of them: it tags instructions, and `eval.tagging` scores it.
    path: module and class.
    """

    task: TaskName
    path: str


SYSTEMS = {
    "full_history": Entry("mpt", "programs.full_history:FullHistorySystem"),
    "prefine": Entry("mpt", "programs.prefine:PRefineSystem"),
    "predictive": Entry("mpt", "programs.predictive:PredictiveSystem"),
    "rag": Entry("mpt", "programs.rag:RagSystem"),
    "mem0": Entry("mpt", "programs.mem0:Mem0System"),
    "langmem": Entry("mpt", "programs.langmem:LangMemSystem"),
    "amem": Entry("mpt", "programs.amem:AMemSystem"),
    "interpret": Entry("nlsi", "programs.interpret:InterpretSystem"),
    "ext_tag": Entry("nlsi", "programs.ext_tag:ExtTagSystem"),
    "joint_tag": Entry("nlsi", "programs.joint_tag:JointTagSystem"),
    "taps": Entry("nlsi", "programs.taps:TapsSystem"),
    "tagger": Entry("tags", "programs.tagger:TaggerSystem"),
    "one_shot": Entry("nlsi", "programs.one_shot:OneShotSystem"),
    "tag_and_repair": Entry("nlsi", "programs.tag_and_repair:TagAndRepairSystem"),
    "select": Entry("nlsi", "programs.select:SelectSystem"),
    "select_then_interpret": Entry("nlsi", "programs.select_then_interpret:SelectThenInterpretSystem"),
    "idss": Entry("episodes", "programs.idss:IDSSSystem"),
    "react": Entry("episodes", "programs.react:ReActSystem"),
    "stateact": Entry("episodes", "programs.stateact:StateActSystem"),
    "resum": Entry("episodes", "programs.resum:ReSumSystem"),
    "iterresearch": Entry("episodes", "programs.iterresearch:IterResearchSystem"),
    "ufold": Entry("episodes", "programs.ufold:UFoldSystem"),
}
FILE_OPTIONS = ("tags",)
"""Options of systems that name a file which decides their answers."""


def systems_for(task: str) -> list[str]:
    """The names of the systems that answer a benchmark's instances."""
    return [name for name, entry in SYSTEMS.items() if entry.task == task]


def load_system(name: str, **options: Any) -> Any:
    """The system of that name, with its compiled program if one is named.

    Args:
        name: a key of `SYSTEMS`; "prefine@optimized/prefine-mpt", with that program's compiled state; or just the
            compiled program's folder or name.
        options: for its constructor (`prefine`: K, loop, record), over those that it was compiled with.

    Returns:
        A `System`, an `NlsiSystem`, or an `EpisodeSystem`: see its entry in `SYSTEMS`.

    Raises:
        InputError: unknown name or option, or a compiled program that is not there or does not fit.
    """
    base, compiled = _parts(name)
    if compiled:
        return _compiled(base, compiled, options)
    if base not in SYSTEMS:
        raise InputError(f"no program is called {name!r}; known: {', '.join(sorted(SYSTEMS))}")
    return _system(base, options)


def compiled_options(name: str) -> dict[str, Any]:
    """The constructor's options that a compiled program brings with it; {} for a name without one.

    Raises:
        InputError: the compiled program is not there, or cannot be read.
    """
    from prefine_dspy.artifact import find_program, read_manifest

    _, compiled = _parts(name)
    return dict(read_manifest(find_program(compiled)).program.options) if compiled else {}


def file_identities(options: Mapping[str, Any]) -> dict[str, str]:
    """By option that names a file, a hash over that file's content.

    Args:
        options: as `load_system` took them.
    """
    from programs.tag_tables import identity

    return {name: identity(options[name]) for name in FILE_OPTIONS if options.get(name) is not None}


def _parts(name: str) -> tuple[str, str]:
    """The system's name and that of a compiled program; one of them may be missing."""
    base, at, compiled = name.partition("@")
    if not at and base not in SYSTEMS:
        return "", name
    if at and not compiled:
        raise InputError(f"{name!r} names no compiled program after the @: e.g. {base or 'prefine'}@optimized/NAME")
    return base, compiled


def _compiled(base: str, compiled: str, options: dict[str, Any]) -> Any:
    from prefine_dspy.artifact import find_program, load_program, read_manifest

    try:
        folder = find_program(compiled)
    except InputError as error:
        if base or "/" in compiled:
            raise
        raise InputError(f"no program is called {compiled!r}; known: {', '.join(sorted(SYSTEMS))}; {error}") from None
    part = read_manifest(folder).program
    if part.name not in SYSTEMS or base not in ("", part.name):
        raise InputError(f"{compiled} is a compiled {part.name}: use --program {part.name}@{compiled}")
    system = _system(part.name, {**part.options, **options})
    # the system's own program, with what was compiled: it may hold what no file keeps, such as a second LM
    system.program.load_state(load_program(folder).program.dump_state(json_mode=True))
    return system


def _system(name: str, options: dict[str, Any]) -> Any:
    module, _, attribute = SYSTEMS[name].path.partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    known = set(inspect.signature(kind).parameters)
    if unknown := sorted(set(options) - known):
        raise InputError(f"{name} has no option {', '.join(unknown)}; known: {', '.join(sorted(known)) or 'none'}")
    return kind(**options)


__all__ = [
    "SYSTEMS",
    "Entry",
    "EpisodeSystem",
    "NlsiSystem",
    "System",
    "compiled_options",
    "file_identities",
    "load_system",
    "systems_for",
]
