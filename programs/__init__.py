"""One file per system of the papers: how it maps an instance to tool calls."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from prefine_dspy.errors import InputError
from programs.system import System

SYSTEMS = {
    "full_history": "programs.full_history:FullHistorySystem",
    "prefine": "programs.prefine:PRefineSystem",
}


def load_system(name: str, **options: Any) -> System:
    """The system of that name, with its compiled program if one is named.

    Args:
        name: a key of `SYSTEMS`; "prefine@optimized/prefine-mpt", with that program's compiled state; or just the
            compiled program's folder or name.
        options: for its constructor (`prefine`: K, loop, record), over those that it was compiled with.

    Raises:
        InputError: unknown name or option, or a compiled program that is not there or does not fit.
    """
    base, at, compiled = name.partition("@")
    if not at and base not in SYSTEMS:
        base, compiled = "", name
    if at and not compiled:
        raise InputError(f"{name!r} names no compiled program after the @: e.g. {base or 'prefine'}@optimized/NAME")
    if compiled:
        return _compiled(base, compiled, options)
    if base not in SYSTEMS:
        raise InputError(f"no program is called {name!r}; known: {', '.join(sorted(SYSTEMS))}")
    return _system(base, options)


def _compiled(base: str, compiled: str, options: dict[str, Any]) -> System:
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
    system.program = load_program(folder, **options).program
    return system


def _system(name: str, options: dict[str, Any]) -> System:
    module, _, attribute = SYSTEMS[name].partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    known = set(inspect.signature(kind).parameters)
    if unknown := sorted(set(options) - known):
        raise InputError(f"{name} has no option {', '.join(unknown)}; known: {', '.join(sorted(known)) or 'none'}")
    system: System = kind(**options)
    return system


__all__ = ["SYSTEMS", "System", "load_system"]
