"""TAPS's structured tagging tool alone: a standing instruction becomes tags (TAPS section 3.1)."""

from __future__ import annotations

from prefine_dspy.tagging import Tagger
from prefine_dspy.tagging.tagger import AnswerForm


class TaggerSystem:
    """A `Tagger` under a name, to be compiled and scored; it answers no requests. `eval.tagging` asks its program.

    Args:
        form: what the LM writes; see `Tagger`.
        nearest, fixed: see `prefine_dspy.nearest.Nearest`.
    """

    name = "tagger"

    def __init__(self, form: AnswerForm = "values", nearest: int = 0, fixed: int = 0) -> None:
        self.program = Tagger(form, nearest, fixed)
