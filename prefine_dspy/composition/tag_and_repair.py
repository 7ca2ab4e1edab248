"""TagAndRepair: answer; when unsure, tag the instructions and repair the answer by what the tags say."""

from __future__ import annotations

from collections.abc import Mapping

import dspy

from prefine_dspy.composition.repair import repair
from prefine_dspy.gate import Estimator, gate_of
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tagging import Tagged, Tagger, parse_tags, render_tags
from prefine_dspy.taps import Default
from prefine_dspy.tools import Catalogue


class TagAndRepair(dspy.Module):
    """See the package.

    Args:
        estimator, threshold: see `gate.Gate`; 0 always tags.
        lm: the tagger's LM; None takes the interpreter's.
        table: tags in angle form by instruction, which are looked up before the tagger is asked.
    """

    def __init__(
        self,
        estimator: Estimator = "least_confidence",
        threshold: float = 0.0,
        lm: dspy.BaseLM | None = None,
        table: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.default = Default()
        self.tagger = Tagger()
        self.gate = gate_of(estimator, threshold)
        self._lm = lm
        self._table = table or {}

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `taps.Taps.forward`; one LM answer and the tagger's."""
        answer = self.default(request=request, tools=tools)
        answer.first_calls, answer.tagged, answer.tagger_calls = answer.calls, False, 0
        if not request.applicable or not self.gate.unsure(answer.uncertainty):
            return answer
        tagged, asked, problems = [], 0, []
        for text in request.texts():
            if text in self._table:
                tagged.append(parse_tags(self._table[text], tools).tagged)
                continue
            with dspy.context(lm=self._lm or dspy.settings.lm):
                found = self.tagger(instruction=text, tools=tools)
            asked += 1
            problems += list(found.problems)
            tagged.append(found.tagged or Tagged(text))
        answer.calls = repair(answer.calls, tagged, tools, request.query)
        answer.problems = [*problems, *answer.problems]
        answer.tags, answer.tagged, answer.tagger_calls = [render_tags(one) for one in tagged], True, asked
        return answer
