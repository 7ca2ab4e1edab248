"""Beyond TAPS: what tags say and an answer lacks is filled in by a rule, without a second answer."""

from __future__ import annotations

import dspy

from prefine_dspy.composition import TagAndRepair
from prefine_dspy.gate import Estimator
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue
from programs.nlsi_options import lm_of
from programs.tag_tables import table_of


class TagAndRepairSystem:
    """`TagAndRepair` as the runner drives it.

    Args:
        estimator, threshold, tagger_lm, tags, tag_nearest, tag_fixed: see `TapsSystem`.
    """

    name = "tag_and_repair"

    def __init__(
        self,
        estimator: Estimator = "least_confidence",
        threshold: float = 0.0,
        tagger_lm: str | None = None,
        tags: str | None = None,
        tag_nearest: int = 0,
        tag_fixed: int = 0,
    ) -> None:
        table = table_of(tags)
        self.program = TagAndRepair(estimator, threshold, lm_of(tagger_lm), table, tag_nearest, tag_fixed)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, repaired where that seemed worth the tagger's calls."""
        return self.program(request=request, tools=tools)
