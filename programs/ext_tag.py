"""TAPS's Ext-Tag: a tagger, then the interpreter reads instructions with tags (TAPS section 3.1)."""

from __future__ import annotations

import dspy

from prefine_dspy.standing import InstructedQuery
from prefine_dspy.taps import ExtTag
from prefine_dspy.tools import Catalogue
from programs.nlsi_options import flag, lm_of
from programs.tag_tables import table_of


class ExtTagSystem:
    """`ExtTag` as the runner drives it.

    Args:
        tagger_lm: name of the tagger's LM; the run's LM when not given.
        tags: a CSV file (`org,aug`) with the tags of instructions: gold ones, or those of a stronger LM (TAPS's
            Ext-Tag-opt). The tagger is asked for instructions that it lacks.
        linked, nearest, fixed: see `InterpretSystem`.
        tag_nearest, tag_fixed: the same of the tagger.
    """

    name = "ext_tag"

    def __init__(
        self,
        tagger_lm: str | None = None,
        tags: str | None = None,
        linked: bool = True,
        nearest: int = 0,
        fixed: int = 0,
        tag_nearest: int = 0,
        tag_fixed: int = 0,
    ) -> None:
        table, link = table_of(tags), flag("linked", linked)
        self.program = ExtTag(lm_of(tagger_lm), table, link, nearest, fixed, tag_nearest, tag_fixed)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, from the tagged instructions."""
        return self.program(request=request, tools=tools)
