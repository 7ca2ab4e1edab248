"""PRefine verified by prediction, as a benchmark drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from prefine_dspy.predictive import PredictivePRefine
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session
from programs.program_options import options_of

__all__ = ["PredictivePRefine", "PredictiveSystem"]


class PredictiveSystem:
    """`PredictivePRefine` as the runner drives it; its options are that program's."""

    name = "predictive"
    builds_memory = True

    __signature__ = options_of(PredictivePRefine)  # what `load_system` takes for the system's options

    def __init__(self, **options: Any) -> None:
        self.program = PredictivePRefine(**options)

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`."""
        return self.program.update(memory, sessions, tools)

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        """The prediction for one query, from the memory alone."""
        prediction = self.program.answer(query, tools, memory)
        prediction.memory_text = memory.text
        return prediction
