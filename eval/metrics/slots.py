"""The strict slot scorer: O-F1, EXP-F1, IMP-F1 and P-EM (PRefine section 5.2) on tool calls, without text tricks.

It differs from the published evaluator (`eval.metrics.reference`) where that one is an accident of its parser or
rewards hedging:
- every predicted value counts, so that naming all values of an argument costs precision;
- alternatives are whole calls: the best matching one is the gold, values of two are not mixed;
- years count, `number_of_days` is a number, the name of the function must be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eval.metrics.counts import Counts, ItemScore, PreferenceSlots, is_preference
from eval.metrics.values import read_value, same_value
from prefine_dspy.tools import Catalogue, Parameter
from prefine_dspy.types import ToolCall


class Slot(NamedTuple):
    """One filled argument of a call."""

    function: str
    argument: str
    value: str


class Comparison(NamedTuple):
    """One gold alternative against a prediction: what was right, wrongly filled, and missed."""

    right: tuple[Slot, ...]
    spurious: tuple[Slot, ...]
    missed: tuple[Slot, ...]

    def counts(self) -> Counts:
        return Counts(len(self.right), len(self.spurious), len(self.missed))

    def part(self, preference_slots: PreferenceSlots, preference: bool) -> Comparison:
        """Only the preference slots, or only the others."""
        return Comparison(
            *(tuple(s for s in slots if is_preference(*s[:2], preference_slots) == preference) for slots in self)
        )


def compare(gold: Sequence[ToolCall], predicted: Sequence[ToolCall], catalogue: Catalogue | None = None) -> Comparison:
    """Compare with the gold alternative that fits best (highest F1, then fewest errors, then the earliest)."""
    given = slots_of(predicted)
    options = [_compare_with(slots_of([call]), given, catalogue) for call in gold] or [
        _compare_with([], given, catalogue)
    ]
    return max(options, key=lambda c: (c.counts().item_f1, -len(c.spurious) - len(c.missed)))


def slots_of(calls: Iterable[ToolCall]) -> list[Slot]:
    """The filled arguments of some calls; the same value said twice counts once."""
    unique = {(f, a, read_value(v).text): Slot(f, a, v) for call in calls for f, a, v in call.triplets()}
    return list(unique.values())


def _compare_with(gold: Sequence[Slot], given: Sequence[Slot], catalogue: Catalogue | None) -> Comparison:
    """Match one to one: two spellings of the right value are one hit and one false positive."""
    right: list[Slot] = []
    missed: list[Slot] = []
    left = list(given)
    for wanted in gold:
        parameter = _parameter(wanted, catalogue)
        hit = next((s for s in left if s[:2] == wanted[:2] and same_value(wanted.value, s.value, parameter)), None)
        if hit is None:
            missed.append(wanted)
        else:
            left.remove(hit)
            right.append(wanted)
    return Comparison(tuple(right), tuple(left), tuple(missed))


def _parameter(slot: Slot, catalogue: Catalogue | None) -> Parameter | None:
    tool = catalogue.get(slot.function) if catalogue else None
    return tool.parameter(slot.argument) if tool else None


def score_item(
    gold: Sequence[ToolCall],
    predicted: Sequence[ToolCall],
    preference_slots: PreferenceSlots,
    *,
    parse_failed: bool = False,
    catalogue: Catalogue | None = None,
) -> ItemScore:
    """Score one prediction.

    Args:
        gold: alternative right calls, usually one; none means that no call is right.
        predicted: the calls that were made; none is an abstention unless `parse_failed`.
        preference_slots: what counts as a preference, by function.
        parse_failed: the answer could not be read.
        catalogue: the tools, for the types of arguments; without it values are read by how they are written.
    """
    comparison = compare(gold, predicted, catalogue)
    pref = comparison.part(preference_slots, True).counts()
    nonpref = comparison.part(preference_slots, False).counts()
    wanted = comparison.right + comparison.missed
    functions = {call.name for call in predicted}
    return ItemScore(
        overall=comparison.counts(),
        pref=pref,
        nonpref=nonpref,
        pref_exact_match=not parse_failed and not pref.fp and not pref.fn,
        function_right=not parse_failed and functions <= {c.name for c in gold} and bool(functions) == bool(gold),
        abstained=not parse_failed and not any(call.arguments for call in predicted),
        parse_failed=parse_failed,
        predicted_arguments=len(comparison.right) + len(comparison.spurious),
        gold_arguments=len(wanted),
        gold_preferences=pref.tp + pref.fn,
    )
