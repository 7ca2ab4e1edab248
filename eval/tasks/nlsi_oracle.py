"""What a perfect gate would have chosen, and what an imperfect one can be worth: TAPS-Oracle and the coverage curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eval.tasks.task import Record

LEAST_CONFIDENCE = "least_confidence"
COVERAGES = tuple(tenth / 10 for tenth in range(1, 11))


def dialogue_of(item: Record) -> str:
    """What an item is resampled with; data without dialogue ids has one dialogue an item."""
    return item["dialogue_id"] or item["id"]


class Row(NamedTuple):
    """One instance: the scores of its plain answer and of the one with tags, both by scorer."""

    reasoning_type: str
    dialogue: str
    plain: Record
    tagged: Record


class Choice(NamedTuple):
    """What the oracle takes of one instance, and whether that is the answer with tags."""

    scores: Record
    augmented: bool


class Oracle(NamedTuple):
    """A gate that knows the scores (TAPS section 4.2)."""

    name: str
    rows: list[Row]

    @staticmethod
    def choose(row: Row, scorer: str) -> Choice:
        """The answer with tags where its F1 is strictly higher; all metrics follow that choice."""
        plain, tagged = row.plain[scorer], row.tagged[scorer]
        better = tagged["f1"] > plain["f1"]
        return Choice(tagged if better else plain, better)


def of_two_programs(plain: str, tagged: str, plain_items: Sequence[Record], tagged_items: Sequence[Record]) -> Oracle:
    """TAPS-Oracle over two programs of one run, on the instances that both answered."""
    other = {one["id"]: one["scores"] for one in tagged_items}
    rows = [
        Row(one["reasoning_type"], dialogue_of(one), one["scores"], other[one["id"]])
        for one in plain_items
        if one["id"] in other
    ]
    return Oracle(f"TAPS-Oracle: {plain} / {tagged}", rows)


def of_two_answers(label: str, items: Sequence[Record]) -> Oracle | None:
    """The oracle over a program's first answer and its final one; None when it keeps no first answers.

    Where the program's gate let the first answer stand there is nothing to choose: this is the best that could have
    been made of the answers that were asked for, not of all.
    """
    rows = [
        Row(one["reasoning_type"], dialogue_of(one), one["first_scores"], one["scores"])
        for one in items
        if one["first_scores"]
    ]
    return Oracle(f"oracle over {label}'s own answers", rows) if rows else None


def coverage_curve(items: Sequence[Record], scorer: str) -> list[dict[str, Any]]:
    """F1 and EM of the most certain share of the instances, for shares of 10% to 100%.

    Sorted by least confidence; by the first estimator there is, where the LM gave no log-probabilities. The scores are
    those of the final answers.

    Returns:
        Points `{"coverage", "n", "F1", "EM", "estimator", "threshold"}`, shares between 0 and 1, scores in percent;
        `threshold` is the uncertainty of the last instance covered. [] without any uncertainty.
    """
    measured = [one for one in items if one["uncertainty"]]
    if not measured:
        return []
    first = measured[0]["uncertainty"]
    name = LEAST_CONFIDENCE if LEAST_CONFIDENCE in first else next(iter(first))
    found = [
        (one["uncertainty"][name], one["id"], one["scores"][scorer]) for one in measured if name in one["uncertainty"]
    ]
    ranked = sorted(found, key=lambda one: one[:2])
    points = []
    for coverage in COVERAGES:
        covered = ranked[: max(1, round(coverage * len(ranked)))]
        scores = [one for _, _, one in covered]
        points.append(
            {
                "coverage": coverage,
                "n": len(covered),
                "F1": round(100 * sum(one["f1"] for one in scores) / len(scores), 2),
                "EM": round(100 * sum(one["em_length_checked"] for one in scores) / len(scores), 2),
                "estimator": name,
                "threshold": covered[-1][0],
            }
        )
    return points
