"""NLSI's first subtask alone: which standing instructions apply."""

from __future__ import annotations

import dspy

from prefine_dspy.selection import By, selector
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue


class SelectSystem:
    """A selector as the runner drives it; it calls no API.

    Args:
        by: lm, bm25 or embedding.
        k: instructions that a ranking selector takes.
        embedder: see `prefine_dspy.lm.embedding.resolve_embedder`.
    """

    name = "select"

    def __init__(self, by: By = "lm", k: int = 3, embedder: str = "local") -> None:
        self.program = selector(by, k, embedder)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The selected instructions."""
        prediction = self.program(request=request, tools=tools)
        prediction.calls = []
        return prediction
