"""The baseline prompt: one fixed demonstration, no optimizer (TAPS section 2.3)."""

from __future__ import annotations

import dspy

from prefine_dspy.interpreter import instruction_lines
from prefine_dspy.rendering import query_text
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.taps import Default
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query


def demonstration() -> dspy.Example:
    """Our own, with a value that is stated, one that an instruction gives, and one that hangs on another."""
    return dspy.Example(
        standing=instruction_lines(
            (
                "Whenever I eat out I want Georgian food.",
                "For Georgian food, go to Tamari's Table.",
            )
        ),
        query=query_text(Query.of("We are hungry. Can you find us a restaurant in Maple Bay with live music?")),
        calls=[
            {
                "function": "GetRestaurants",
                "arguments": {
                    "restaurant_name": "Tamari's Table",
                    "city": "Maple Bay",
                    "cuisine": "Georgian",
                    "has_live_music": "True",
                },
            }
        ],
    )


class OneShotSystem:
    """`Default` with one demonstration, as the runner drives it."""

    name = "one_shot"

    def __init__(self) -> None:
        self.program = Default(linked=False)
        self.program.interpreter.interpret.demos = [demonstration()]

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, from the instructions as they are."""
        return self.program(request=request, tools=tools)
