import time

import numpy as np
import pytest

from eval.metrics.counts import Counts
from eval.metrics.statistics import bootstrap, f1_of, figure, paired_difference

MIXED = [Counts(1, 0, 0), Counts(0, 1, 1), Counts(2, 1, 0), Counts(0, 0, 0)] * 30


def test_f1_of_nothing_is_0():
    assert f1_of([[0, 0, 0], [1, 1, 0]]).tolist() == [0.0, pytest.approx(2 / 3)]


def test_the_three_figures():
    counts = [Counts(1, 0, 0), Counts(1, 0, 0), Counts(0, 1, 1), Counts(0, 0, 0)]
    types = ["recall", "recall", "transfer", "transfer"]
    assert figure(counts) == pytest.approx(2 / 3)
    assert figure(counts, "type_mean", types) == pytest.approx(0.5)
    assert figure(counts, "macro") == pytest.approx(0.75)


def test_the_mean_of_types_needs_types():
    with pytest.raises(ValueError, match="needs types"):
        figure(MIXED, "type_mean")
    with pytest.raises(ValueError, match="per item: 1 for 120"):
        figure(MIXED, "type_mean", ["recall"])


@pytest.mark.parametrize("statistic", ["pooled", "type_mean", "macro"])
def test_an_interval_holds_its_value_and_is_reproducible(statistic):
    types = ["recall", "transfer"] * 60
    interval = bootstrap(MIXED, statistic, types, seed=3)
    assert interval.low < interval.value < interval.high
    assert interval == bootstrap(MIXED, statistic, types, seed=3)
    assert interval != bootstrap(MIXED, statistic, types, seed=4)
    assert (interval.n, interval.clusters) == (120, 120)


def test_the_interval_agrees_with_resampling_by_hand():
    generator = np.random.default_rng(0)
    counts = np.array(MIXED)
    drawn = [f1_of(counts[generator.integers(0, len(counts), len(counts))].sum(axis=0)) for _ in range(4000)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    interval = bootstrap(MIXED, resamples=4000)
    assert interval.low == pytest.approx(low, abs=0.015)
    assert interval.high == pytest.approx(high, abs=0.015)


def test_items_of_one_history_are_drawn_together():
    counts = [Counts(1, 0, 0)] * 50 + [Counts(0, 1, 1)] * 50
    alone = bootstrap(counts)
    together = bootstrap(counts, clusters=["a"] * 50 + ["b"] * 50)
    assert together.clusters == 2
    assert (together.low, together.high) == (0.0, 1.0)
    assert alone.high - alone.low < 0.3


def test_a_paired_difference_is_sharper_than_two_intervals():
    a = [Counts(1, 0, 0)] * 60 + [Counts(0, 1, 1)] * 40
    b = [Counts(1, 0, 0)] * 50 + [Counts(0, 1, 1)] * 50
    difference = paired_difference(a, b)
    assert difference.value == pytest.approx(0.1)
    assert 0 < difference.low < 0.1 < difference.high
    assert difference.p < 0.01
    assert difference.high - difference.low < bootstrap(a).high - bootstrap(a).low
    same = paired_difference(a, a)
    assert (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_a_paired_difference_needs_the_same_items():
    with pytest.raises(ValueError, match="same items"):
        paired_difference(MIXED, MIXED[:-1])


@pytest.mark.parametrize("statistic", ["pooled", "type_mean", "macro"])
def test_no_items(statistic):
    assert tuple(bootstrap([], statistic, [])) == (0.0, 0.0, 0.0, 0, 0)
    assert paired_difference([], [], statistic, []).p == 1.0


def test_a_benchmark_takes_no_time():
    start = time.perf_counter()
    bootstrap([*MIXED] * 40, "type_mean", ["recall", "induction", "transfer"] * 1600)
    assert time.perf_counter() - start < 1.0
