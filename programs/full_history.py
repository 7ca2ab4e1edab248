"""Full-history prompting: all sessions and their calls in the prompt (PRefine section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.rendering import history_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session


class FullHistory(dspy.Module):
    """Answers each query with the whole history in the place of a memory."""

    def __init__(self) -> None:
        super().__init__()
        self.caller = ToolCaller()

    def forward(self, history: History, query: Query, tools: Catalogue) -> dspy.Prediction:
        """See `ToolCaller.forward`."""
        text = history_text(history)
        prediction = self.caller(query=query, tools=tools, memory=text)
        prediction.memory_text = text
        return prediction


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
