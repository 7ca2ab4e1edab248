"""NLSI's whole task: select the instructions that apply, then interpret them."""

from __future__ import annotations

import dspy

from prefine_dspy.selection import By, SelectThenInterpret
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue


class SelectThenInterpretSystem:
    """`SelectThenInterpret` as the runner drives it. Options: see `SelectSystem`."""

    name = "select_then_interpret"

    def __init__(self, by: By = "lm", k: int = 3, embedder: str = "local") -> None:
        self.program = SelectThenInterpret(by, k, embedder)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, from the instructions that the program selected itself."""
        return self.program(request=request, tools=tools)
