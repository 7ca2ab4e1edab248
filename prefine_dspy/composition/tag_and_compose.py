"""TagAndCompose: a tagger for the instructions, a reader for the dialogue, and a rule that joins them."""

from __future__ import annotations

from collections.abc import Mapping

import dspy

from prefine_dspy.composition.compose import compose
from prefine_dspy.confidence import confidences, read_tokens, scored
from prefine_dspy.gate import uncertainties
from prefine_dspy.interpreter import Interpreter
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tagging import Tagged, Tagger, parse_tags, render_tags
from prefine_dspy.tools import Catalogue


class TagAndCompose(dspy.Module):
    """See the package.

    Args:
        lm: the tagger's LM; None takes the reader's.
        table: tags in angle form by instruction, which are looked up before the tagger is asked.
    """

    def __init__(self, lm: dspy.BaseLM | None = None, table: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.tagger = Tagger()
        self.reader = Interpreter()
        self._lm = lm
        self._table = table or {}

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `Interpreter.forward`; `tags`, `tagged`, `tagger_calls` as of `taps.ExtTag`, `uncertainty` that of the
        reader."""
        tagged, asked, problems = [], 0, []
        for text in request.texts():
            if text in self._table:
                tagged.append(parse_tags(self._table[text]).tagged)
                continue
            with dspy.context(lm=self._lm or dspy.settings.lm):
                answer = self.tagger(instruction=text, tools=tools)
            asked += 1
            problems += list(answer.problems)
            tagged.append(answer.tagged or Tagged(text))
        with dspy.context(lm=scored(dspy.settings.lm)[0]):
            read = self.reader(request=InstructedQuery(query=request.query), tools=tools)
        read.uncertainty = uncertainties(read_tokens(read.logprobs), confidences(read.logprobs, read.calls, tools))
        read.calls = compose(read.calls, tagged, tools, request.query)
        read.problems = [*problems, *read.problems]
        read.tags, read.tagged, read.tagger_calls = [render_tags(one) for one in tagged], bool(tagged), asked
        return read
