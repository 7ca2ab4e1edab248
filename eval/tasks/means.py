"""Means over items, their paired differences and correlations, each with a bootstrap interval.

Groups of items are resampled whole (the instances of a dialogue are not independent); without groups, items. A resample
is a vector of weights on the items, so one matrix product makes all of them, for many figures at once. The interval of
a paired difference is that of the mean of the items' differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.metrics.statistics import LEVEL, RESAMPLES
from eval.tables import percent

Array = NDArray[np.float64]
Cell = dict[str, Any]


def mean_cells(columns: Mapping[str, Sequence[float]], groups: Sequence[str] | None = None) -> dict[str, Cell | None]:
    """By column, the mean of values between 0 and 1, or of differences of such, in percent.

    Args:
        columns: all of the same items; together they cost little more than one.
        groups: by item, what it belongs to; None when every item stands for itself.

    Returns:
        Cells `{"value", "low", "high", "n"}`, the bounds of a 95% percentile interval; None without items.
    """
    given = np.asarray(list(columns.values()), dtype=float).reshape(len(columns), -1).T
    n = len(given)
    if not n:
        return dict.fromkeys(columns)
    weights = _weights(_codes(groups, n))
    low, high = _bounds(weights @ given / weights.sum(axis=1, keepdims=True)).tolist()
    return {
        name: {"value": percent(value), "low": percent(low[at]), "high": percent(high[at]), "n": n}
        for at, (name, value) in enumerate(zip(columns, given.mean(axis=0).tolist(), strict=True))
    }


def mean_cell(values: Sequence[float], groups: Sequence[str] | None = None) -> Cell | None:
    """One column of `mean_cells`."""
    return mean_cells({"": values}, groups)[""]


def correlation_cell(a: Sequence[float], b: Sequence[float], groups: Sequence[str] | None = None) -> Cell | None:
    """Pearson's r between -1 and 1; None where one side does not vary, or with fewer than three items.

    Resamples in which one side does not vary are left out of the interval.
    """
    if len(a) < 3:
        return None
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    r = _pearson(np.ones((1, len(x))), x, y)
    if not len(r):
        return None
    low, high = _bounds(_pearson(_weights(_codes(groups, len(x))), x, y)).tolist()
    return {"value": round(float(r[0]), 3), "low": round(low, 3), "high": round(high, 3), "n": len(x)}


def _pearson(weights: Array, x: Array, y: Array) -> Array:
    """r of each resample in which both sides vary."""
    # centred first: sums of squares of close numbers would lose their digits
    x, y = x - x.mean(), y - y.mean()
    means = weights @ np.stack([x, y, x * y, x * x, y * y], axis=1) / weights.sum(axis=1, keepdims=True)
    covariance = means[:, 2] - means[:, 0] * means[:, 1]
    spread = (means[:, 3] - means[:, 0] ** 2).clip(0) * (means[:, 4] - means[:, 1] ** 2).clip(0)
    varies = spread > 1e-24
    return np.clip(covariance[varies] / np.sqrt(spread[varies]), -1, 1)


def _codes(groups: Sequence[str] | None, n: int) -> tuple[int, ...]:
    """The group of each item as a number, in the order of first appearance."""
    if groups is None:
        return tuple(range(n))
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(group, len(numbers)) for group in groups)


@lru_cache(maxsize=8)
def _weights(codes: tuple[int, ...]) -> Array:
    """How often each item is drawn with its group, in each resample: (resample, item)."""
    groups = max(codes) + 1
    drawn = np.random.default_rng(0).multinomial(groups, np.full(groups, 1 / groups), size=RESAMPLES)
    return drawn.astype(float)[:, list(codes)]


def _bounds(drawn: Array) -> Array:
    """The interval's lower and upper bound, of each column."""
    return np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
