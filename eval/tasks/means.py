"""Means over items, their paired differences and correlations, each with a bootstrap interval over items.

A resample is a vector of weights on the items, so one matrix product makes all of them, for many figures at once. The
interval of a paired difference is that of the mean of the items' differences.
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


def mean_cells(columns: Mapping[str, Sequence[float]]) -> dict[str, Cell | None]:
    """By column, the mean of values between 0 and 1, or of differences of such, in percent.

    Args:
        columns: all of the same items; together they cost little more than one.

    Returns:
        Cells `{"value", "low", "high", "n"}`, the bounds of a 95% percentile interval; None without items.
    """
    given = np.asarray(list(columns.values()), dtype=float).reshape(len(columns), -1).T
    n = len(given)
    if not n:
        return dict.fromkeys(columns)
    low, high = _bounds(_weights(n) @ given / n).tolist()
    return {
        name: {"value": percent(value), "low": percent(low[at]), "high": percent(high[at]), "n": n}
        for at, (name, value) in enumerate(zip(columns, given.mean(axis=0).tolist(), strict=True))
    }


def mean_cell(values: Sequence[float]) -> Cell | None:
    """One column of `mean_cells`."""
    return mean_cells({"": values})[""]


def correlation_cell(a: Sequence[float], b: Sequence[float]) -> Cell | None:
    """Pearson's r between -1 and 1; None where one side does not vary, or with fewer than three items.

    Resamples in which one side does not vary are left out of the interval.
    """
    if len(a) < 3:
        return None
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    r = _pearson(np.ones((1, len(x))), x, y)
    if not len(r):
        return None
    low, high = _bounds(_pearson(_weights(len(x)), x, y)).tolist()
    return {"value": round(float(r[0]), 3), "low": round(low, 3), "high": round(high, 3), "n": len(x)}


def _pearson(weights: Array, x: Array, y: Array) -> Array:
    """r of each resample in which both sides vary."""
    n = len(x)
    # centred first: sums of squares of close numbers would lose their digits
    x, y = x - x.mean(), y - y.mean()
    means = weights @ np.stack([x, y, x * y, x * x, y * y], axis=1) / n
    covariance = means[:, 2] - means[:, 0] * means[:, 1]
    spread = (means[:, 3] - means[:, 0] ** 2).clip(0) * (means[:, 4] - means[:, 1] ** 2).clip(0)
    varies = spread > 1e-24
    return np.clip(covariance[varies] / np.sqrt(spread[varies]), -1, 1)


@lru_cache(maxsize=8)
def _weights(n: int) -> Array:
    """How often each of n items is drawn, in each resample: (resample, item)."""
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)


def _bounds(drawn: Array) -> Array:
    """The interval's lower and upper bound, of each column."""
    return np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
