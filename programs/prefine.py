"""PRefine: a verified hypothesis as memory (PRefine sections 5.1, C.6), as a benchmark drives it."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from prefine_dspy.hypothesis import Loop, Record
from prefine_dspy.prefine import PRefine
from prefine_dspy.rendering import memory_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session

__all__ = ["PRefine", "PRefineSystem"]


class PRefineSystem:
    """`PRefine` as the runner drives it."""

    name = "prefine"
    builds_memory = True

    def __init__(
        self,
        K: int = 5,  # noqa: N803 - the paper's name
        loop: Loop = "verify",
        record: Record = "calls",
        dialogue: bool = False,
        evidence: int = 0,
    ) -> None:
        self.program = PRefine(K=K, loop=loop, record=record, dialogue=dialogue, evidence=evidence)

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`."""
        update: MemoryUpdate = self.program.memory(memory=memory, sessions=sessions, tools=tools)
        return update

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        """The prediction for one query, from the memory alone."""
        text = memory_text(memory)
        prediction = self.program.caller(query=query, tools=tools, memory=text)
        prediction.memory_text = text
        return prediction
