"""The strict score as DSPy metrics: one callable serves `dspy.Evaluate`, bootstrapping, MIPROv2, SIMBA and GEPA.

    metric = mpt_metric                       # O-F1 with MPT's own slots and schemas
    metric = MPTMetric(part="pref")           # IMP-F1
    metric = MPTMetric(feedback=True)         # for GEPA: score and text

The example holds `gold`: alternative right calls (`ToolCall`s, or MPT call strings). The prediction holds `calls`
(and `parse_failed`), as `ToolCaller` and every system of `programs` return them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import dspy

from eval.data.catalogue import base_catalogue, preference_slots
from eval.metrics.counts import ItemScore, PreferenceSlots, is_preference
from eval.metrics.fields import field_of
from eval.metrics.slots import Comparison, Slot, compare, score_item
from prefine_dspy.parsing import parse_calls
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall


class _Answer(NamedTuple):
    calls: list[ToolCall]
    failed: bool


class MPTMetric:
    """F1 of one item between 0 and 1; 1 when nothing was asked for and nothing was filled in, 0 if unreadable.

    Args:
        part: "overall" (O-F1), "pref" (IMP-F1) or "nonpref" (EXP-F1).
        feedback: return `dspy.Prediction(score=, feedback=)` in place of the number.
        slots: preference arguments by function; MPT's by default.
        catalogue: the tools, for the types of arguments; MPT's by default.
    """

    def __init__(
        self,
        part: Literal["overall", "pref", "nonpref"] = "overall",
        *,
        feedback: bool = False,
        slots: PreferenceSlots | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        self.part = part
        self.feedback = feedback
        self.slots = preference_slots() if slots is None else slots
        self.catalogue = base_catalogue() if catalogue is None else catalogue
        # optimizers record a metric by its name
        self.__name__ = f"mpt_{part}_f1{'_with_feedback' if feedback else ''}"

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
            The F1 as float. While demonstrations are bootstrapped (`trace` without `pred_name`) whether the answer is
            wholly right, as bool: DSPy takes any number but 0 for a success there. With `feedback`, score and text.
        """
        wanted, answer = _gold_calls(gold), _answer(pred)
        item = score_item(wanted, answer.calls, self.slots, parse_failed=answer.failed, catalogue=self.catalogue)
        score = 0.0 if item.parse_failed else float(getattr(item, self.part).item_f1)
        if self.feedback:
            return dspy.Prediction(score=score, feedback=self._text(wanted, answer, item))
        if trace is not None and pred_name is None:
            return score == 1.0 and item.function_right
        return score

    def _text(self, wanted: Sequence[ToolCall], answer: _Answer, item: ItemScore) -> str:
        right_calls = " or ".join(map(str, wanted)) or "no call at all"
        if item.parse_failed:
            return f"The answer could not be read as a tool call. Expected {right_calls}."
        comparison = compare(wanted, answer.calls, self.catalogue)
        if not comparison.spurious and not comparison.missed and item.function_right:
            return f"All right: {', '.join(map(str, answer.calls)) or 'nothing was called, and nothing should be'}."
        lines = [] if item.function_right else [_function_line(wanted, answer.calls)]
        return " ".join([*lines, *self._argument_lines(comparison, item.function_right)])

    def _argument_lines(self, comparison: Comparison, function_right: bool) -> list[str]:
        """One sentence an error. Arguments of a wrong function are not worth a word each."""
        lines: list[str] = []
        given = {slot[:2]: slot for slot in comparison.spurious}
        for slot in comparison.missed:
            got = given.pop(slot[:2], None)
            lines.append(self._missed_line(slot, got))
        if function_right:
            lines += [self._spurious_line(slot) for slot in given.values()]
        if comparison.right:
            lines.append("Right: " + ", ".join(f"{slot.argument}={slot.value!r}" for slot in comparison.right) + ".")
        return lines

    def _missed_line(self, slot: Slot, got: Slot | None) -> str:
        said = f"was set to {got.value!r}" if got else "was left out"
        start = f"{slot.argument} {said} but should be {slot.value!r}."
        if is_preference(*slot[:2], self.slots):
            blame = (
                "The query does not state it: it follows from the user's preference, so the memory is to blame if it"
            )
            return f"{start} {blame} does not express that preference, else the call that did not apply it."
        return f"{start} The query states it, so this is a mistake of reading the query, not of the memory."

    def _spurious_line(self, slot: Slot) -> str:
        start = f"{slot.argument} was set to {slot.value!r} but should be left out."
        if is_preference(*slot[:2], self.slots):
            return f"{start} No established preference of the user decides it: abstain where the memory is silent."
        return f"{start} The query does not state it: do not invent arguments."


def _function_line(wanted: Sequence[ToolCall], given: Sequence[ToolCall]) -> str:
    right = " or ".join(sorted({call.name for call in wanted})) or "no function"
    called = " and ".join(call.name for call in given) or "nothing"
    return f"Called {called} where {right} was wanted."


def _gold_calls(gold: Any) -> list[ToolCall]:
    """Alternatives as `ToolCall`s, from calls or from call strings."""
    value = field_of(gold, "gold")
    if value is None:
        raise ValueError(
            "the example has no `gold`: dspy.Example(query=..., gold=[ToolCall, ...]).with_inputs('query')"
        )
    return parse_calls(list(value) if isinstance(value, list | tuple) else value).calls


def _answer(pred: Any) -> _Answer:
    """The calls of a prediction. One without `calls` is a program that failed, not an abstention."""
    calls = field_of(pred, "calls")
    if calls is None:
        return _Answer([], True)
    parsed = parse_calls(list(calls) if isinstance(calls, list | tuple) else calls)
    return _Answer(parsed.calls, parsed.parse_failed or bool(field_of(pred, "parse_failed")))


def mpt_metric(gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None) -> Any:
    """O-F1 of one item on MPT's slots; see `MPTMetric`."""
    return MPTMetric()(gold, pred, trace, pred_name, pred_trace)


def mpt_metric_with_feedback(
    gold: dspy.Example, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
) -> dspy.Prediction:
    """The same with a text that names each wrong argument, what was expected, and what is to blame."""
    prediction: dspy.Prediction = MPTMetric(feedback=True)(gold, pred, trace, pred_name, pred_trace)
    return prediction
