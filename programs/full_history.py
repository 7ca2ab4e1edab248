"""Full-history prompting (PRefine section 5.1), as a benchmark drives it."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from prefine_dspy.full_history import FullHistory
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session

__all__ = ["FullHistory", "FullHistorySystem"]


class FullHistorySystem:
    """`FullHistory` as the runner drives it."""

    name = "full_history"
    builds_memory = False

    def __init__(self) -> None:
        self.program = FullHistory()

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """Never asked: there is no memory."""
        raise NotImplementedError("full_history keeps no memory")

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        """The prediction for one query."""
        return self.program(history=history, query=query, tools=tools)
