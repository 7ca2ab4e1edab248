"""The score of one NLSI item: what both NLSI scorers return, so that every report reads either."""

from __future__ import annotations

from typing import NamedTuple


class NlsiScore(NamedTuple):
    """Figures of one item, each between 0 and 1; reported figures are plain means over items (TAPS section 4).

    Args:
        em: exact match of the slots. In the reference scorer a comparison of sets, blind to doubled and merged calls.
        em_length_checked: the same, 0 when the number of calls differs. The strict scorer always checks it.
        f1: harmonic mean of precision and recall; 1 when nothing was wanted and nothing was given.
        precision: right slots of those given.
        recall: right slots of those wanted.
    """

    em: float
    em_length_checked: float
    f1: float
    precision: float
    recall: float


NOTHING_RIGHT = NlsiScore(0.0, 0.0, 0.0, 0.0, 0.0)


def harmonic_mean(precision: float, recall: float) -> float:
    """F1; 0 when both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
