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
    """The system of that name.

    Args:
        name: a key of `SYSTEMS`.
        options: for its constructor (`prefine`: K, loop, record).

    Raises:
        InputError: unknown name or option.
    """
    if name not in SYSTEMS:
        raise InputError(f"no program is called {name!r}; known: {', '.join(sorted(SYSTEMS))}")
    module, _, attribute = SYSTEMS[name].partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    known = set(inspect.signature(kind).parameters)
    if unknown := sorted(set(options) - known):
        raise InputError(f"{name} has no option {', '.join(unknown)}; known: {', '.join(sorted(known)) or 'none'}")
    system: System = kind(**options)
    return system


__all__ = ["SYSTEMS", "System", "load_system"]
