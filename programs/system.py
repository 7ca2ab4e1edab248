"""What the runner asks of a system of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import dspy
from pydantic import BaseModel, ConfigDict, Field

from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, Query, Session


class MemoryUpdate(BaseModel):
    """What one session did to a memory.

    Args:
        memory: the memory after the session (the old one when nothing was accepted).
        accepted: a new hypothesis replaced the old one.
        attempts: the trace, in order: one JSON object a step (its stage, the hypothesis, the verdict ...).
        parse_failures: LM answers of this update that could not be used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: Memory
    accepted: bool
    attempts: list[dict[str, Any]] = Field(default_factory=list)
    parse_failures: int = 0


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
