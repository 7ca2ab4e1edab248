"""The tagger's metric while it is compiled: F1 of (function, argument, value) triplets against the gold tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dspy

from prefine_dspy.tagging import Tagged, Triplet, triplets
from prefine_dspy.tools import Catalogue


class TagMetric:
    """Scores one tagged instruction.

    A function that has no value counts as one pair, so that "also look at Hotels" can be right or wrong.

    Args:
        tools: brings values of closed sets to one spelling.
        feedback: return `dspy.Prediction(score=, feedback=)`, for GEPA.
    """

    def __init__(self, tools: Catalogue, *, feedback: bool = False) -> None:
        self.tools = tools
        self.feedback = feedback
        self.__name__ = f"tag_triplet_f1{'_with_feedback' if feedback else ''}"

    def __call__(
        self, gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """Between 0 and 1. While demonstrations are bootstrapped (`trace` without `pred_name`) whether all is right."""
        wanted = self._said(gold.gold)
        tagged = pred.get("tagged") if hasattr(pred, "get") else getattr(pred, "tagged", None)
        given = self._said(tagged) if isinstance(tagged, Tagged) else set()
        right = len(wanted & given)
        score = 2 * right / (len(wanted) + len(given)) if wanted or given else 1.0
        if self.feedback:
            return dspy.Prediction(score=score, feedback=_text(wanted, given, isinstance(tagged, Tagged)))
        if trace is not None and pred_name is None:
            return score == 1.0
        return score

    def _said(self, tagged: Tagged) -> set[Triplet]:
        values = {Triplet(f, s, v.casefold()) for f, s, v in triplets(tagged, self.tools)}
        return values | {Triplet(action.name, "", "") for action in tagged.actions if not action.slots}


def _text(wanted: set[Triplet], given: set[Triplet], readable: bool) -> str:
    if not readable:
        return "The answer could not be read or did not keep the sentence's words."
    lines = [f"Missed: {_listed(wanted - given)}."] if wanted - given else []
    lines += [f"Not in the sentence as that: {_listed(given - wanted)}."] if given - wanted else []
    return " ".join(lines) or "All right."


def _listed(some: Iterable[Triplet]) -> str:
    return "; ".join(f"{f} {s} {v!r}" if s else f"{f} without a value" for f, s, v in sorted(some))
