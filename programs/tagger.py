"""TAPS's structured tagging tool alone: a standing instruction becomes tags (TAPS section 3.1)."""

from __future__ import annotations

from prefine_dspy.tagging import Tagger
from prefine_dspy.tagging.tagger import AnswerForm


class TaggerSystem:
    """A `Tagger` under a name, to be compiled and scored; it answers no requests. `eval.tagging` asks its program.

    Args:
        form: what the LM writes; see `Tagger`.
    """

    name = "tagger"

    def __init__(self, form: AnswerForm = "values") -> None:
        self.program = Tagger(form)
