"""NLSI's figures before and after compiling: means over items, with intervals over dialogues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dspy
import numpy as np
from numpy.typing import NDArray

from eval.data.nlsi import NlsiInstance
from eval.metrics.nlsi_score import NOTHING_RIGHT, NlsiScore
from eval.metrics.nlsi_strict import score_calls
from eval.metrics.selection import SelectionScore, score_selection
from eval.metrics.statistics import LEVEL, RESAMPLES
from prefine_dspy.manifest import Figure, Scores
from prefine_dspy.tools import Catalogue

Item = NlsiScore | SelectionScore
FIGURES = ("em", "f1", "precision", "recall")
"""Of calls by the strict scorer, whose exact match includes the length rule; of selected instructions where a program
calls nothing."""


def item_of(instance: NlsiInstance, prediction: dspy.Prediction | None, tools: Catalogue, selects: bool) -> Item:
    """The score of one item; an answer that failed (None) or cannot be read has nothing right.

    Args:
        selects: the program only selects instructions.
    """
    failed = prediction is None or bool(prediction.parse_failed)
    if selects:
        if failed or prediction is None:
            return SelectionScore(0.0, 0.0, 0.0, 0.0)
        return score_selection((one.id for one in instance.request.applicable), prediction.selected)
    if failed or prediction is None:
        return NOTHING_RIGHT
    return score_calls(instance.gold, list(prediction.calls), catalogue=tools)


def clusters(instances: Sequence[NlsiInstance]) -> list[str]:
    """By item, what it shares with others: NLSI asks several things about one dialogue."""
    return [instance.dialogue_id or instance.id for instance in instances]


def before_and_after(before: Sequence[Any] | None, after: Sequence[Any] | None, groups: Sequence[str]) -> Scores:
    """The figures of both, and their paired differences where both are there.

    Args:
        before, after: by item, what has `FIGURES`.
        groups: by item, the group that it belongs to.
    """

    def figures(values: Callable[[str], list[float]], paired: bool = False) -> dict[str, Figure]:
        return {name: mean_figure(values(name), groups, paired=paired) for name in FIGURES}

    sides = [_columns(side) if side else None for side in (before, after)]
    old, new = sides
    return Scores(
        before=figures(old) if old else {},
        after=figures(new) if new else {},
        difference=figures(_minus(new, old), paired=True) if old and new else {},
    )


def mean_figure(values: Sequence[float], groups: Sequence[str], *, paired: bool = False) -> Figure:
    """A mean with its percentile interval; whole groups are resampled.

    Args:
        values: by item.
        groups: by item, the group that it belongs to.
        paired: the values are differences: with p, two-sided.
    """
    codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1].reshape(-1)
    sums, sizes = np.bincount(codes, weights=np.asarray(values, dtype=float)), np.bincount(codes)
    n = len(sums)
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)
    drawn: NDArray[np.float64] = (weights @ sums) / (weights @ sizes)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    p = round(min(1.0, 2 * float(min(np.mean(drawn <= 0), np.mean(drawn >= 0)))), 4) if paired else None
    mean = float(np.mean(values))
    return Figure(value=round(mean, 4), low=round(float(low), 4), high=round(float(high), 4), n=len(values), p=p)


def _columns(items: Sequence[Any]) -> Callable[[str], list[float]]:
    return lambda name: [float(getattr(item, name)) for item in items]


def _minus(new: Callable[[str], list[float]], old: Callable[[str], list[float]]) -> Callable[[str], list[float]]:
    return lambda name: [one - other for one, other in zip(new(name), old(name), strict=True)]
