"""NLSI's whole task: select the instructions that apply, then interpret them."""

from __future__ import annotations

import dspy

from prefine_dspy.selection import with_selected
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.taps import Default
from prefine_dspy.tools import Catalogue
from programs.select import By, selector


class SelectThenInterpret(dspy.Module):
    """A selector, and `Default` over what it selected."""

    def __init__(self, by: By = "lm", k: int = 3, embedder: str = "local") -> None:
        super().__init__()
        self.selector = selector(by, k, embedder)
        self.default = Default()

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `Default.forward`; with the selector's `selected`. The request's own applicable instructions are not
        looked at."""
        chosen = self.selector(request=request, tools=tools)
        prediction = self.default(request=with_selected(request, chosen.selected), tools=tools)
        prediction.selected = chosen.selected
        prediction.problems = [*chosen.problems, *prediction.problems]
        return prediction


class SelectThenInterpretSystem:
    """`SelectThenInterpret` as the runner drives it. Options: see `SelectSystem`."""

    name = "select_then_interpret"

    def __init__(self, by: By = "lm", k: int = 3, embedder: str = "local") -> None:
        self.program = SelectThenInterpret(by, k, embedder)

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """The calls, from the instructions that the program selected itself."""
        return self.program(request=request, tools=tools)
