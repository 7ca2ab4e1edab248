"""An agent that is loaded when it is first needed: a memory can be read and corrected at once, without a model."""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from prefine_dspy.errors import InputError

if TYPE_CHECKING:
    from prefine_dspy.agent import Agent

_PYTHON = "python:"


class LoadedAgent(NamedTuple):
    """An agent, and what its updates are signed with: identities of its LM and of its program."""

    agent: Agent
    lm: str
    program: str


class AgentAtFirstUse:
    """Loads an agent once, in the first thread that asks.

    Args:
        program: a shipped program's name, a compiled one's folder, or "python:module:attribute" (a module).
        lm: a name for `prefine_dspy.lm.resolve`, or "python:module:attribute" (a dspy.LM).
    """

    def __init__(self, program: str, lm: str) -> None:
        self.program = program
        self.lm = lm
        self._lock = threading.Lock()
        self._loaded: LoadedAgent | None = None

    def __call__(self) -> LoadedAgent:
        """The agent.

        Raises:
            InputError: the program or the LM cannot be loaded; the next call tries again.
        """
        with self._lock:
            self._loaded = self._loaded or self._load()
            return self._loaded

    def _load(self) -> LoadedAgent:
        from prefine_dspy.agent import load
        from prefine_dspy.lm import resolve
        from prefine_dspy.manifest import LMPart

        lm = python_object(self.lm) if self.lm.startswith(_PYTHON) else resolve(self.lm)
        agent = load(python_object(self.program) if self.program.startswith(_PYTHON) else self.program, lm)
        return LoadedAgent(agent, LMPart.of(lm).model, _program_identity(agent))


def python_object(name: str) -> Any:
    """What "python:module:attribute" names; a class is called without arguments.

    Raises:
        InputError: it cannot be imported or has no such attribute.
    """
    module, colon, attribute = name.removeprefix(_PYTHON).partition(":")
    if not (module and colon and attribute):
        raise InputError(f"{name!r} is no Python object: give python:module:attribute")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{name}: {error}") from None
    return found() if isinstance(found, type) else found


def _program_identity(agent: Agent) -> str:
    """The program's name, and a hash over the state of its predictors."""
    from prefine_dspy.fingerprint import state_hash

    name = agent.manifest.program.name if agent.manifest else type(agent.program).__name__
    return f"{name}@{state_hash(agent.program.dump_state())[:16]}"
