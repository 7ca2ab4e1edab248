"""PRefine as one module: a verified hypothesis as memory, and the caller that reads it (PRefine sections 5.1, C.6)."""

from __future__ import annotations

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.hypothesis import HypothesisMemory, Loop, Record
from prefine_dspy.rendering import memory_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, Query


class PRefine(dspy.Module):
    """Both parts with their different clocks: `memory` runs once a session, `caller` once a query.

    Args:
        K, loop, record, dialogue, evidence: see `HypothesisMemory`.
    """

    def __init__(
        self,
        K: int = 5,  # noqa: N803 - the paper's name
        loop: Loop = "verify",
        record: Record = "calls",
        dialogue: bool = False,
        evidence: int = 0,
    ) -> None:
        super().__init__()
        self.memory = HypothesisMemory(K=K, loop=loop, record=record, dialogue=dialogue, evidence=evidence)
        self.caller = ToolCaller()

    def forward(self, history: History, query: Query, tools: Catalogue) -> dspy.Prediction:
        """Build the memory over the whole history, then answer; the prediction also has `memory`.

        A benchmark asks many queries of one history and must not rebuild: it uses the two parts.
        """
        memory = Memory()
        for seen in range(1, len(history.sessions) + 1):
            memory = self.memory(memory=memory, sessions=history.sessions[:seen], tools=tools).memory
        prediction = self.caller(query=query, tools=tools, memory=memory_text(memory))
        prediction.memory = memory
        return prediction
