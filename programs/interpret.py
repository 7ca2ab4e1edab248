"""TAPS's Default: query and applicable instructions become calls (TAPS section 2)."""

from __future__ import annotations

import dspy

from prefine_dspy.standing import InstructedQuery
from prefine_dspy.taps import Default
from prefine_dspy.tools import Catalogue
from programs.nlsi_options import flag


class InterpretSystem:
    """`Default` as the runner drives it.

    Args:
        linked: see `prefine_dspy.interpreter.Interpreter`; False leaves answers as the published programs would.
        nearest, fixed: see `prefine_dspy.nearest.Nearest`: for each request so many of the saved demonstrations, after
            the first `fixed` ones.
    """

    name = "interpret"

    def __init__(self, linked: bool = True, nearest: int = 0, fixed: int = 0) -> None:
        self.program = Default(flag("linked", linked), nearest, fixed)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, from the instructions as they are."""
        return self.program(request=request, tools=tools)
