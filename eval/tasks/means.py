"""Means over items, their paired differences and correlations, each with a bootstrap interval over items.

A resample is a vector of weights on the items, so one matrix product makes all of them; the same weights serve every
figure of as many items, and with them all programs of a run: paired differences need no more than a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.metrics.statistics import LEVEL, RESAMPLES
from eval.tables import percent

Array = NDArray[np.float64]
Cell = dict[str, Any]


def mean_cell(values: Sequence[float]) -> Cell | None:
    """The mean of values between 0 and 1, or of differences of such, in percent; None without any.

    Returns:
        `{"value", "low", "high", "n"}`, the bounds of a 95% percentile interval.
    """
    if not len(values):
        return None
    given = np.asarray(values, dtype=float)
    low, high = _bounds(_weights(len(given)) @ given / len(given))
    return {"value": percent(float(given.mean())), "low": percent(low), "high": percent(high), "n": len(given)}


def difference_cell(a: Sequence[float], b: Sequence[float]) -> Cell | None:
    """The mean of a - b over the same items, in percent points."""
    return mean_cell([one - other for one, other in zip(a, b, strict=True)])


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
    low, high = _bounds(_pearson(_weights(len(x)), x, y))
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


def _bounds(drawn: Array) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
