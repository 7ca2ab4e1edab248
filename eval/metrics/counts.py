"""What every scorer counts, and the score of one item. Both scorers return these, so that all reports read either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

PreferenceSlots = Mapping[str, Sequence[str]]
"""By function, the arguments that count as preferences (IMP-F1 and P-EM); everything else is EXP-F1."""


class Counts(NamedTuple):
    """True positives, false positives and false negatives over (function, argument, value).

    A wrong value is both a false positive and a false negative. A ratio without a denominator is 0, as in the
    published evaluator.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def precision(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0

    @property
    def recall(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def item_f1(self) -> float:
        """F1 of one item on its own: 1 when nothing was asked for and nothing was given (a right abstention)."""
        return self.f1 if any(self) else 1.0

    def as_dict(self) -> dict[str, float]:
        """`tp fp fn precision recall f1`, the form of `eval.score`."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall, "f1": self.f1}


def pooled(counts: Iterable[Counts]) -> Counts:
    """The sum of counts: F1 of the sum is the micro F1 of the published code."""
    tp = fp = fn = 0
    for one in counts:
        tp, fp, fn = tp + one.tp, fp + one.fp, fn + one.fn
    return Counts(tp, fp, fn)


class ItemScore(NamedTuple):
    """How one prediction compares with its gold.

    Args:
        overall: all arguments (O-F1).
        pref: preference arguments (IMP-F1).
        nonpref: the others (EXP-F1); `pref` and `nonpref` add up to `overall`.
        pref_exact_match: P-EM: no preference argument is wrong, missing or too much.
        function_right: every predicted call is to the gold function (and there is one if gold has one).
        abstained: a readable answer without a call, or whose calls have no arguments.
        parse_failed: no call could be read and the answer was not an abstention.
        predicted_arguments: number of arguments filled.
        gold_arguments: number of arguments wanted.
        gold_preferences: number of preference arguments wanted; 0 makes P-EM easy.
    """

    overall: Counts
    pref: Counts
    nonpref: Counts
    pref_exact_match: bool
    function_right: bool
    abstained: bool
    parse_failed: bool
    predicted_arguments: int
    gold_arguments: int
    gold_preferences: int

    def as_dict(self) -> dict[str, Any]:
        """The item as `eval.score` prints it (without its id)."""
        return {
            "overall": self.overall.as_dict(),
            "pref": self.pref.as_dict(),
            "nonpref": self.nonpref.as_dict(),
            "pref_exact_match": int(self.pref_exact_match),
            "parse_failed": self.parse_failed,
            "function_right": self.function_right,
            "abstained": self.abstained,
            "predicted_arguments": self.predicted_arguments,
            "gold_arguments": self.gold_arguments,
            "gold_preferences": self.gold_preferences,
        }


def is_preference(function: str, argument: str, preference_slots: PreferenceSlots) -> bool:
    """The split is by name alone: unknown functions and arguments are never preferences."""
    return argument in preference_slots.get(function, ())
