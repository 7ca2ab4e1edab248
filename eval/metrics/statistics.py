"""Figures over many items and their intervals: pooled F1, the mean of types (PRefine Table 3), per-query macro F1.

Intervals are percentile bootstrap intervals. Items of one history share a memory and are not independent, so whole
histories are resampled. Resamples are weights on clusters, so one matrix product makes all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.metrics.counts import Counts

Array = NDArray[np.float64]
Statistic = Literal["pooled", "type_mean", "macro"]
RESAMPLES = 2000
LEVEL = 0.95


class Interval(NamedTuple):
    """A figure with its bootstrap interval.

    Args:
        value: on the items themselves.
        low, high: the interval.
        n: items.
        clusters: independent units that were resampled (histories).
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int


class Difference(NamedTuple):
    """a - b on the same items, with its interval.

    Args:
        p: share of resamples in which the difference has the other sign or is nil, doubled (two-sided), at most 1.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    clusters: int


def f1_of(counts: ArrayLike) -> Array:
    """F1 of counts whose last axis is (tp, fp, fn); 0 where there is nothing."""
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    denominator = 2 * tp + fp + fn
    return np.divide(2 * tp, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def figure(counts: Sequence[Counts], statistic: Statistic = "pooled", types: Sequence[str] | None = None) -> float:
    """One figure over items.

    Args:
        counts: per item.
        statistic: "pooled" sums counts (micro, the published code); "type_mean" pools within each type and takes the
            unweighted mean (Table 3's "Avg."); "macro" is the mean of per-item F1 (appendix C.1), where an item
            that asks for nothing and gets nothing counts 1.
        types: per item, the reasoning type; needed for "type_mean".
    """
    sums = _cluster_sums(counts, statistic, types, None)
    return float(_figure(np.ones((1, len(sums))), sums, statistic)[0])


def bootstrap(
    counts: Sequence[Counts],
    statistic: Statistic = "pooled",
    types: Sequence[str] | None = None,
    clusters: Sequence[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """A figure with its percentile interval.

    Args:
        counts, statistic, types: as in `figure`.
        clusters: per item, the history it belongs to; without it every item stands alone.
        seed: the same seed gives the same interval.
    """
    sums = _cluster_sums(counts, statistic, types, clusters)
    value = figure(counts, statistic, types)
    kinds, weights = _resampled(sums, resamples, seed)
    drawn = _figure(weights, kinds, statistic)
    low, high = _percentiles(drawn, level)
    return Interval(value, low, high, len(counts), len(sums))


def paired_difference(
    a: Sequence[Counts],
    b: Sequence[Counts],
    statistic: Statistic = "pooled",
    types: Sequence[str] | None = None,
    clusters: Sequence[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Difference:
    """The difference of two systems on the same items: both are resampled together, which removes the shared spread."""
    if len(a) != len(b):
        raise ValueError(f"a paired difference needs the same items on both sides: {len(a)} and {len(b)}")
    sums_a, sums_b = (_cluster_sums(counts, statistic, types, clusters) for counts in (a, b))
    pairs, weights = _resampled(np.stack([sums_a, sums_b], axis=1), resamples, seed)
    drawn = _figure(weights, pairs[:, 0], statistic) - _figure(weights, pairs[:, 1], statistic)
    value = figure(a, statistic, types) - figure(b, statistic, types)
    low, high = _percentiles(drawn, level)
    p = 1.0
    if len(drawn):
        p = min(1.0, 2 * float(min(np.mean(drawn <= 0), np.mean(drawn >= 0))))
    return Difference(value, low, high, p, len(a), len(sums_a))


def _resampled(clusters: Array, resamples: int, seed: int) -> tuple[Array, Array]:
    """Resamples of clusters: the distinct kinds of cluster, and how often each kind is drawn in each resample.

    Clusters with the same sums are interchangeable, so kinds are drawn with their frequencies as probabilities: the
    same distribution as drawing single clusters, with a few hundred numbers a resample instead of thousands.
    """
    n = len(clusters)
    if not n:
        return clusters, np.zeros((0, 0))
    kinds, frequency = np.unique(clusters.reshape(n, -1), axis=0, return_counts=True)
    weights = np.random.default_rng(seed).multinomial(n, frequency / n, size=resamples).astype(float)
    return kinds.reshape(-1, *clusters.shape[1:]), weights


def _percentiles(drawn: Array, level: float) -> tuple[float, float]:
    if not len(drawn):
        return 0.0, 0.0
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _cluster_sums(
    counts: Sequence[Counts], statistic: Statistic, types: Sequence[str] | None, clusters: Sequence[str] | None
) -> Array:
    """What a statistic needs of each cluster: (cluster, type, tp fp fn), or (cluster, 1, sum of F1 and items)."""
    for name, labels in (("types", types), ("clusters", clusters)):
        if labels is not None and len(labels) != len(counts):
            raise ValueError(f"{name} must be given per item: {len(labels)} for {len(counts)} items")
    if statistic == "type_mean" and types is None:
        raise ValueError("the mean over types needs types=")
    if statistic == "macro":
        per_item = np.array([[c.item_f1, 1.0] for c in counts]).reshape(-1, 2)
    else:
        per_item = np.array(counts, dtype=float).reshape(-1, 3)
    group = _codes(types if statistic == "type_mean" else None, len(counts), alone=False)
    cluster = _codes(clusters, len(counts), alone=True)
    shape = (int(cluster.max(initial=-1)) + 1, int(group.max(initial=0)) + 1, per_item.shape[1])
    sums = np.zeros(shape)
    np.add.at(sums, (cluster, group), per_item)
    return sums


def _codes(labels: Sequence[str] | None, n: int, *, alone: bool) -> NDArray[np.intp]:
    """Labels as numbers; without labels every item is a group of its own, or all are one."""
    if labels is None:
        return np.arange(n) if alone else np.zeros(n, dtype=np.intp)
    return np.unique(np.asarray(labels, dtype=str), return_inverse=True)[1].reshape(-1)


def _figure(weights: Array, sums: Array, statistic: Statistic) -> Array:
    """The statistic of each resample: weights (resample, cluster) times sums (cluster, type, counts)."""
    if not sums.size:
        return np.zeros(len(weights))
    total = np.tensordot(weights, sums, axes=1)
    if statistic == "macro":
        return np.divide(total[:, 0, 0], total[:, 0, 1], out=np.zeros(len(total)), where=total[:, 0, 1] > 0)
    present = total.sum(axis=2) > 0  # a type that a resample misses must not count as 0
    scores = np.where(present, f1_of(total), 0.0).sum(axis=1)
    return np.divide(scores, present.sum(axis=1), out=np.zeros(len(total)), where=present.any(axis=1))
