"""TagAndRepair: answer; when unsure, tag the instructions and repair the answer by what the tags say."""

from __future__ import annotations

from collections.abc import Mapping

import dspy

from prefine_dspy.composition.repair import repair
from prefine_dspy.gate import Estimator
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tagging import Tagger, parse_tags, tag_texts
from prefine_dspy.taps import Gated
from prefine_dspy.tools import Catalogue


class TagAndRepair(Gated):
    """See the package.

    Args:
        estimator, threshold: see `taps.Gated`; threshold 0 always tags.
        lm, table, tag_nearest, tag_fixed: see `taps.ExtTag`.
    """

    def __init__(
        self,
        estimator: Estimator = "least_confidence",
        threshold: float = 0.0,
        lm: dspy.BaseLM | None = None,
        table: Mapping[str, str] | None = None,
        tag_nearest: int = 0,
        tag_fixed: int = 0,
    ) -> None:
        super().__init__(estimator, threshold)
        self.tagger = Tagger(nearest=tag_nearest, fixed=tag_fixed)
        self._lm = lm
        self._table = table or {}

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `taps.Taps.forward`; one LM answer and the tagger's."""
        answer, unsure = self.first(request, tools)
        if not unsure:
            return answer
        texts, asked, problems = tag_texts(request.texts(), self.tagger, tools, self._lm, self._table)
        tagged = [parse_tags(text, tools).tagged for text in texts]
        answer.calls = repair(answer.calls, tagged, tools, request.query)
        answer.problems = [*problems, *answer.problems]
        answer.tags, answer.tagged, answer.tagger_calls = texts, True, asked
        return answer
