"""What the runner asks of a system of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import dspy

from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session


class System(Protocol):
    """A program together with the way it remembers.

    `update` is called once a session, oldest first, with all sessions seen so far (the new one last); a system with
    `builds_memory` False is never asked. `answer` returns a prediction with `calls` (list of `ToolCall`, empty when
    it abstains), `raw` (the LM's own text) and `parse_failed` (bool). An LM that cannot be reached raises.
    """

    name: str
    program: dspy.Module
    builds_memory: bool

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate: ...

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction: ...


__all__ = ["MemoryUpdate", "System"]
