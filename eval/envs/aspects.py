"""How recommendations are graded where each aspect of a wish has a best option and other right ones (UserBench)."""

from __future__ import annotations

from collections.abc import Mapping

ASPECT_POINTS = {"best": 1.0, "correct": 0.8}
"""UserBench's rewards for the best option of an aspect and for another right one."""


def score(aspects: Mapping[str, str | None]) -> float:
    """The mean over aspects of 1 for the best option, 0.8 for another right one, else 0; 0 without aspects.

    UserBench's repository computes no such figure; this is the project's reading of the paper's "Score".

    Args:
        aspects: by aspect, the best that was recommended: "best", "correct", "wrong", or None when nothing was.
    """
    return sum(ASPECT_POINTS.get(grade or "", 0.0) for grade in aspects.values()) / len(aspects) if aspects else 0.0
