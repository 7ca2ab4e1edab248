"""Feedback on one call in the words of a person who knows the user: which argument, expected, got, and who is to blame.

A missing preference can be the memory's fault (it does not say so) or the caller's (it did not apply it). Which one it
is decides which prompt has to change, so the metric looks into the memory that the call was made with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import dspy

from eval.data.catalogue import base_catalogue, preference_slots
from eval.data.labels.hypotheses import mentions, shown
from eval.data.preferences import Mapping
from eval.metrics.counts import is_preference
from eval.metrics.dspy_metrics import MPTMetric
from eval.metrics.slots import Slot, compare
from prefine_dspy.types import ToolCall, value_text

Blame = Literal["function", "query", "memory lacked it", "memory misled", "caller ignored it", "caller invented it"]


class BlamingMetric:
    """Score and feedback for GEPA.

    The example holds `gold` and `memory` (the text that the caller read); the prediction holds `calls`.

    Args:
        mapping: which arguments express which preference.
        part: as in `MPTMetric`.
    """

    def __init__(self, mapping: Mapping, part: Literal["overall", "pref", "nonpref"] = "overall") -> None:
        self.mapping = mapping
        self.metric = MPTMetric(part)
        self.__name__ = f"{self.metric.__name__}_with_blame"

    def __call__(
        self, gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> dspy.Prediction:
        """`score` as `MPTMetric` gives it, `feedback` as text, `blames` as data."""
        score = float(self.metric(gold, pred))
        calls = pred.get("calls") if hasattr(pred, "get") else getattr(pred, "calls", None)
        failed = pred.get("parse_failed") if hasattr(pred, "get") else getattr(pred, "parse_failed", False)
        wanted = list(gold.gold)
        if calls is None or failed:
            text = f"The answer could not be read as a tool call. Expected {_said(wanted)}."
            return dspy.Prediction(score=0.0, feedback=text, blames=[])
        blames = self.blames(wanted, list(calls), str(gold.get("memory") or ""))
        text = " ".join(line for _, line in blames) or f"All right: {_said(calls)}."
        return dspy.Prediction(score=score, feedback=text, blames=[blame for blame, _ in blames])

    def blames(self, gold: Sequence[ToolCall], calls: Sequence[ToolCall], memory: str) -> list[tuple[Blame, str]]:
        """Every error with whom it is due to and a sentence about it."""
        functions = {call.name for call in calls}
        if gold and functions != {gold[0].name}:
            called = " and ".join(sorted(functions)) or "nothing"
            return [("function", f"Called {called} where {gold[0].name} was wanted: choose the tool by the request.")]
        comparison = compare(gold, calls, base_catalogue())
        given = {slot[:2]: slot for slot in comparison.spurious}
        found = [self._missed(slot, given.pop(slot[:2], None), memory) for slot in comparison.missed]
        return found + [self._spurious(slot, memory) for slot in given.values()]

    def _missed(self, slot: Slot, got: Slot | None, memory: str) -> tuple[Blame, str]:
        said = f"was set to {got.value!r}" if got else "was left out"
        start = f"{slot.argument} of {slot.function} {said} but should be {slot.value!r}."
        if not is_preference(*slot[:2], preference_slots()):
            return "query", f"{start} The query states it: read the query again."
        what = self._meaning(slot)
        if not self._says(memory, slot):
            return "memory lacked it", f"{start} It follows from {what}, but the memory does not say so."
        return (
            "caller ignored it",
            f"{start} It follows from {what}. The memory says so, and the call does not apply it.",
        )

    def _spurious(self, slot: Slot, memory: str) -> tuple[Blame, str]:
        start = f"{slot.argument} of {slot.function} was set to {slot.value!r} but should be left unspecified."
        if is_preference(*slot[:2], preference_slots()) and self._says(memory, slot):
            return "memory misled", f"{start} The memory speaks of {self._meaning(slot)}, which does not hold for this."
        return "caller invented it", f"{start} Neither the query nor the memory decides it: do not guess."

    def _says(self, memory: str, slot: Slot) -> bool:
        """The memory speaks of the preference that the value expresses, or names the value itself."""
        stance = self.mapping.label((slot.function, slot.argument, slot.value))
        if stance is not None and mentions(memory, stance):
            return True
        value = value_text(slot.value).casefold()
        # single digits and the like are in every text
        return len(value) > 2 and value in memory.casefold()

    def _meaning(self, slot: Slot) -> str:
        stance = self.mapping.label((slot.function, slot.argument, slot.value))
        return f"the user's habit of {shown(stance)}" if stance else f"the user's usual {slot.argument} {slot.value!r}"


def _said(calls: Sequence[ToolCall]) -> str:
    return " or ".join(map(str, calls)) or "no call at all"
