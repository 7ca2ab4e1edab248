"""The NLSI scores as DSPy metrics: one callable serves `dspy.Evaluate`, bootstrapping, MIPROv2 and GEPA.

    metric = nlsi_exact_match                          # strict, with the length rule
    metric = NlsiMetric("f1")                          # strict F1
    metric = NlsiMetric("em", scorer="reference")      # what TAPS hands to its optimiser
    metric = NlsiMetric("f1", feedback=True)           # for GEPA: score and text

The example holds `gold`: call strings or `ToolCall`s, all of which are wanted. Where it also holds `request` (an
`InstructedQuery`), the feedback says which sentence decides a slot. The prediction holds `calls` (and `parse_failed`),
as the NLSI programs return them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import dspy

from eval.metrics import nlsi_reference
from eval.metrics.error_categories import Error, find_errors
from eval.metrics.fields import field_of
from eval.metrics.nlsi_strict import gold_calls, score_calls
from eval.metrics.nlsi_values import ANY, REQUESTED
from eval.metrics.slots import Slot
from prefine_dspy.parsing import ParsedCalls, parse_calls
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall


class NlsiMetric:
    """A figure of one item between 0 and 1.

    Args:
        part: "em" (exact match, length-checked in both scorers) or "f1".
        scorer: "strict", or "reference" for the published evaluator: "em" then is the metric of TAPS's optimiser,
            which cuts the text at "API Calls:" and "---", and "f1" is its alternative.
        feedback: return `dspy.Prediction(score=, feedback=)` in place of the number.
        catalogue: the tools, for the types of arguments.
        read: what the reference scorer reads: the prediction's `calls`, written as published call strings, or its `raw`
            text, which is right for programs that answer with call lines and finds nothing in JSON.
    """

    def __init__(
        self,
        part: Literal["em", "f1"] = "em",
        *,
        scorer: Literal["strict", "reference"] = "strict",
        feedback: bool = False,
        catalogue: Catalogue | None = None,
        read: Literal["calls", "raw"] = "calls",
    ) -> None:
        self.part = part
        self.scorer = scorer
        self.feedback = feedback
        self.catalogue = catalogue
        self.read = read
        # optimizers record a metric by its name
        self.__name__ = f"nlsi_{scorer}_{part}{'_with_feedback' if feedback else ''}"

    def __call__(
        self,
        gold: dspy.Example,
        pred: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any:
        """Score a prediction.

        Returns:
            The figure as float. While demonstrations are bootstrapped (`trace` without `pred_name`) whether the answer
            is wholly right, as bool: DSPy takes any number but 0 for a success there. With `feedback`, score and text.
        """
        wanted, answer = _gold_field(gold), _answer(pred)
        if self.feedback:
            score = self._score(wanted, answer, pred, self.part)
            return dspy.Prediction(
                score=score, feedback=self._text(gold_calls(wanted), answer, field_of(gold, "request"))
            )
        if trace is not None and pred_name is None:
            return self._score(wanted, answer, pred, "em") == 1.0
        return self._score(wanted, answer, pred, self.part)

    def _score(self, wanted: list[str | ToolCall], answer: ParsedCalls, pred: Any, part: Literal["em", "f1"]) -> float:
        if self.scorer == "strict":
            item = score_calls(wanted, answer.calls, parse_failed=answer.parse_failed, catalogue=self.catalogue)
            return item.em if part == "em" else item.f1
        raw = field_of(pred, "raw") if self.read == "raw" else None
        text = raw if isinstance(raw, str) else "\n".join(map(str, answer.calls))
        score = nlsi_reference.optimiser_em if part == "em" else nlsi_reference.optimiser_f1
        return score([str(one) for one in wanted], text)

    def _text(self, wanted: Sequence[ToolCall], answer: ParsedCalls, request: Any) -> str:
        right = "; ".join(map(str, wanted)) or "no call at all"
        errors = find_errors(wanted, answer.calls, parse_failed=answer.parse_failed, catalogue=self.catalogue)
        if not errors:
            return f"All right: {'; '.join(map(str, answer.calls)) or 'nothing was called, and nothing should be'}."
        source = _Source(request if isinstance(request, InstructedQuery) else None)
        return " ".join([*(_sentence(error, source) for error in errors), f"The right answer is {right}."])


class _Source:
    """Where a value comes from, in words."""

    def __init__(self, request: InstructedQuery | None) -> None:
        self.instructions = request.texts() if request else ()
        self.said = " ".join(turn.text for turn in request.query.turns).casefold() if request else ""
        self.known = request is not None

    def instruction(self, slot: Slot) -> str | None:
        """The standing instruction that names a value."""
        value = slot.value.casefold().strip()
        if value in (ANY, REQUESTED, "true", "false", ""):
            return None
        return next((text for text in self.instructions if value in text.casefold()), None)

    def unused(self, slot: Slot) -> str:
        """Why a slot should have been filled."""
        if text := self.instruction(slot):
            return f'The standing instruction "{text}" says so and was not used.'
        if slot.value == REQUESTED:
            return 'The user asks for it, which is written "?".'
        if slot.value.casefold() == ANY:
            return 'The user does not care, which is written "any".'
        if slot.value.casefold() in self.said:
            return "The user says so in the dialogue."
        return "It follows from the dialogue or from a standing instruction." if self.known else ""

    def invented(self, slot: Slot) -> str:
        """Why a slot should have been left out."""
        if text := self.instruction(slot):
            return f'The standing instruction "{text}" does not ask for it in this call.'
        if slot.value.casefold() in self.said:
            return "The user mentions it, but not as this argument."
        return "Neither the dialogue nor an applicable instruction says so: do not invent arguments."


def _sentence(error: Error, source: _Source) -> str:
    """One error, in the words of a person who checks the answer."""
    wanted, given = error.wanted or Slot("", "", ""), error.given or Slot("", "", "")
    slot = f"{wanted.argument} of {wanted.function}"
    match error.kind:
        case "unreadable":
            return "The answer could not be read as calls: write one call a line, or the calls as JSON."
        case "substitution" if not wanted.argument:
            return f"Called {given.function} where {wanted.function} was wanted: choose the function by the request."
        case "substitution":
            return (
                f"{wanted.value!r} was given as {given.argument} of {given.function} "
                f"but is {slot}: use the argument that the tool has for it."
            )
        case "hallucinated_function" if wanted.function:
            return f"{given.function} does not exist: {wanted.function} was wanted."
        case "hallucinated_function":
            return f"{given.function} was called, but nothing asks for it."
        case "extra_call":
            return f"{given.function} was called once too often: make one call for each thing that is asked for."
        case "missing_call":
            return f"A call of {wanted.function} is missing: look for every task in the request and the instructions."
        case "missing_argument":
            return f"{slot} was left out but should be {wanted.value!r}. {source.unused(wanted)}".rstrip()
        case "hallucinated_argument":
            return (
                f"{given.argument} of {given.function} was set to {given.value!r} but should be left out. "
                f"{source.invented(given)}"
            )
        case "value_format":
            return (
                f"{slot} was written {given.value!r} but should be {wanted.value!r}: copy the value as it was said, "
                "whole and without other words."
            )
        case "wrong_value":
            return f"{slot} was set to {given.value!r} but should be {wanted.value!r}. {source.unused(wanted)}".rstrip()


def _gold_field(example: Any) -> list[str | ToolCall]:
    value = field_of(example, "gold")
    if value is None:
        raise ValueError(
            "the example has no `gold`: dspy.Example(request=..., gold=[call strings]).with_inputs('request')"
        )
    return list(value) if isinstance(value, list | tuple) else [value]


def _answer(pred: Any) -> ParsedCalls:
    """The calls of a prediction. One without `calls` is a program that failed, not an abstention."""
    calls = field_of(pred, "calls")
    if calls is None:
        return ParsedCalls([], [], parse_failed=True)
    parsed = parse_calls(list(calls) if isinstance(calls, list | tuple) else calls)
    return parsed._replace(parse_failed=parsed.parse_failed or bool(field_of(pred, "parse_failed")))


def nlsi_exact_match(
    gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
) -> Any:
    """Strict exact match of one item; see `NlsiMetric`."""
    return NlsiMetric("em")(gold, pred, trace, pred_name, pred_trace)


def nlsi_f1(gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None) -> Any:
    """Strict F1 of one item; see `NlsiMetric`."""
    return NlsiMetric("f1")(gold, pred, trace, pred_name, pred_trace)


def nlsi_metric_with_feedback(
    gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
) -> dspy.Prediction:
    """Strict F1 with a text that names each error, what was expected and which sentence decides it."""
    prediction: dspy.Prediction = NlsiMetric("f1", feedback=True)(gold, pred, trace, pred_name, pred_trace)
    return prediction


def taps_optimiser_metric(
    gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
) -> Any:
    """The metric of TAPS's optimiser (section 4): the published evaluator's exact match with the length check."""
    return NlsiMetric("em", scorer="reference")(gold, pred, trace, pred_name, pred_trace)
