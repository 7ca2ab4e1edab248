"""Full-history prompting as a module: all sessions and their calls in the prompt (PRefine section 5.1)."""

from __future__ import annotations

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.rendering import history_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Query


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
