"""What the runner asks of a system on NLSI."""

from __future__ import annotations

from typing import Protocol

import dspy

from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue


class NlsiSystem(Protocol):
    """A program that turns a dialogue and its user's standing instructions into tool calls.

    `answer` returns a prediction with `calls` (list of `ToolCall`, empty when it abstains), `raw` (the LM's own text)
    and `parse_failed` (bool). An LM that cannot be reached raises. What a program does besides is in:

    - `selected`: ids of the instructions of the profile that it took for applicable
    - `tags`: the instructions as the interpreter read them, in angle form
    - `tagged` (bool), `tagger_calls` (int): whether it answered from tags, and how often it asked a tagger
    - `uncertainty`: by estimator, how unsure the first answer was, higher for less sure
    - `first_calls`: that answer, where there may be a second one
    """

    name: str
    program: dspy.Module

    def answer(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction: ...


__all__ = ["NlsiSystem"]
