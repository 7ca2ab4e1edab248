"""TAPS's Joint-Tag: tags and calls in one answer (TAPS section 3.1)."""

from __future__ import annotations

import dspy

from prefine_dspy.interpreter import TaggingInterpreter
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue
from programs.nlsi_options import flag


class JointTagSystem:
    """`TaggingInterpreter` as the runner drives it.

    Args:
        linked, nearest, fixed: see `InterpretSystem`.
    """

    name = "joint_tag"

    def __init__(self, linked: bool = True, nearest: int = 0, fixed: int = 0) -> None:
        self.program = TaggingInterpreter(flag("linked", linked), nearest, fixed)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, with the tags that were written before them."""
        return self.program(request=request, tools=tools)
