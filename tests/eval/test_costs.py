"""What a program's lines cost."""

import pytest

from eval.costs import answer_cost, cost


def line(**usage):
    known = dict.fromkeys(
        "input_tokens output_tokens cache_read_tokens lm_calls cached_calls failed_calls unreported_calls".split(), 0
    )
    return {"usage": {**known, "lm_seconds": 1.0, "cost": None, **usage}, "seconds": 2.0}


ITEMS = [line(input_tokens=100, cache_read_tokens=80, output_tokens=10), line(input_tokens=50, output_tokens=20)]


def test_tokens_out_of_the_prefix_cache_are_not_evaluated():
    row = cost(ITEMS, [])
    assert row["evaluated_tokens_per_item"] == pytest.approx((100 - 80 + 10 + 50 + 20) / 2)
    assert row["evaluated_tokens_per_session"] is None


def test_the_cost_of_answers_leaves_memories_out():
    row = answer_cost(ITEMS)
    assert row["seconds_per_item"] == 2.0 and row["input_tokens_per_item"] == 75.0
    assert not any("session" in name or "memory" in name for name in row)
