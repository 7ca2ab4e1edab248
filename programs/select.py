"""NLSI's first subtask alone: which standing instructions apply."""

from __future__ import annotations

from typing import Literal

import dspy

from prefine_dspy.errors import InputError
from prefine_dspy.selection import BM25Selector, EmbeddingSelector, LMSelector
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue

By = Literal["lm", "bm25", "embedding"]


def selector(by: By, k: int, embedder: str) -> dspy.Module:
    """The selector of that name; `k` and `embedder` are for those that rank.

    Raises:
        InputError: unknown name.
    """
    if by == "lm":
        return LMSelector()
    if by == "bm25":
        return BM25Selector(k)
    if by == "embedding":
        return EmbeddingSelector(k, embedder)
    raise InputError(f"by must be lm, bm25 or embedding, not {by!r}")


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
