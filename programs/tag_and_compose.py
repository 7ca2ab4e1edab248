"""Beyond TAPS: tags are composed into calls by a rule, and the LM reads the dialogue alone."""

from __future__ import annotations

import dspy

from prefine_dspy.composition import TagAndCompose
from prefine_dspy.lm import resolve
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue
from programs.tag_tables import angle_tags


class TagAndComposeSystem:
    """`TagAndCompose` as the runner drives it.

    Args:
        tagger_lm, tags: see `ExtTagSystem`.
    """

    name = "tag_and_compose"

    def __init__(self, tagger_lm: str | None = None, tags: str | None = None) -> None:
        lm = resolve(tagger_lm) if tagger_lm else None
        self.program = TagAndCompose(lm, angle_tags(tags) if tags else None)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, composed."""
        return self.program(request=request, tools=tools)
