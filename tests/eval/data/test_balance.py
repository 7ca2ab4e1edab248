"""Slices of a benchmark."""

from collections import Counter

import pytest

from eval.data.balance import balanced
from eval.data.load import load_benchmark

INSTANCES = load_benchmark("mini").instances


@pytest.mark.parametrize("limit", [6, 24, 60, 100])
def test_cells_are_equal_and_order_is_kept(limit: int) -> None:
    taken = balanced(INSTANCES, limit)
    cells = Counter((i.reasoning_type, i.query_type) for i in taken)
    assert len(taken) == limit and len(cells) == 6 and max(cells.values()) - min(cells.values()) <= 1
    assert taken == [i for i in INSTANCES if i in taken]


def test_few_histories_but_every_preference_and_some_contested() -> None:
    taken = balanced(INSTANCES, 60)
    assert len({i.history_id for i in taken}) <= 8
    assert {i.preference for i in taken} >= {"low_cost", "prefers_star", "eco", "solo_usage"}
    assert 3 <= sum(i.contested for i in taken) <= 20


def test_deterministic_and_seeded() -> None:
    assert balanced(INSTANCES, 30, seed=1) == balanced(INSTANCES, 30, seed=1)
    assert balanced(INSTANCES, 30, seed=1) != balanced(INSTANCES, 30, seed=2)


def test_limits() -> None:
    assert balanced(INSTANCES, 0) == []
    assert balanced(INSTANCES, 10_000) == INSTANCES
    assert balanced([], 5) == []


def test_a_small_cell_gives_what_it_has() -> None:
    recall = [i for i in INSTANCES if i.reasoning_type == "recall"]
    rest = [i for i in INSTANCES if i.reasoning_type == "transfer"]
    taken = balanced([*recall[:3], *rest], 40)
    assert len(taken) == 40 and sum(i.reasoning_type == "recall" for i in taken) == 3
