"""TAPS: answer, and tag and answer again where the LM is unsure (TAPS section 3.2)."""

from __future__ import annotations

import dspy

from prefine_dspy.gate import Estimator
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.taps import Taps
from prefine_dspy.tools import Catalogue
from programs.nlsi_options import flag, lm_of
from programs.tag_tables import table_of


class TapsSystem:
    """`Taps` as the runner drives it.

    Args:
        estimator, threshold: see `prefine_dspy.gate.Gate`; a compiled program brings its own.
        tagger_lm, tags, linked, nearest, fixed, tag_nearest, tag_fixed: see `ExtTagSystem`.
    """

    name = "taps"

    def __init__(
        self,
        estimator: Estimator = "least_confidence",
        threshold: float = 0.02,
        tagger_lm: str | None = None,
        tags: str | None = None,
        linked: bool = True,
        nearest: int = 0,
        fixed: int = 0,
        tag_nearest: int = 0,
        tag_fixed: int = 0,
    ) -> None:
        table, link, lm = table_of(tags), flag("linked", linked), lm_of(tagger_lm)
        self.program = Taps(estimator, threshold, lm, table, link, nearest, fixed, tag_nearest, tag_fixed)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, with tags where they were worth it."""
        return self.program(request=request, tools=tools)
