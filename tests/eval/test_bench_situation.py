"""The measurement of prompt tokens, on a made-up run and on the recorded ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.bench_situation import Step, o200k, prompt_tokens, read_runs, replayed_state, returns_of

ORDER = '{"order_id": "O1", "status": "pending", "items": [{"item_id": "I1", "name": "lamp"}]}'
RUN = [
    Step("user", "Cancel O1"),
    Step("call", "", "get_order", {"json": '{"order_id": "O1"}'}),
    Step("tool", ORDER, "get_order", {"order_id": "O1"}),
    Step("call", "", "cancel_pending_order", {"json": '{"order_id": "O1"}'}),
    Step("tool", ORDER.replace("pending", "cancelled"), "cancel_pending_order", {"order_id": "O1"}),
    Step("assistant", "Done."),
]


def test_the_state_is_made_of_the_runs_writing_calls() -> None:
    before, after = replayed_state(RUN, 3), replayed_state(RUN, 5)
    assert [(one.name, one.status) for one in before.intents] == [("cancel_pending_order_O1", "active")]
    assert [(one.name, one.known) for one in before.variables] == [("order_id", True)]
    assert before.constraints[0].grounding is not None
    assert after.intents[0].status == "completed"


def test_every_part_of_the_prompt_is_counted_once_a_call() -> None:
    sums = prompt_tokens([("shop", RUN)], "table", len)["shop"]
    assert sums["calls"] == 3 and sums["runs"] == 1
    first = len("Cancel O1") + 4
    second = first + 4 + len("get_order") + len('{"order_id": "O1"}') + 4 + len(ORDER)
    third = second + 8 + len("cancel_pending_order") + len('{"order_id": "O1"}') + len(ORDER) + 2
    assert sums["raw"] == first + second + third
    assert 0 < sums["facts"] < sums["raw"] and sums["state"] > 0


def test_the_returns_have_the_size_that_is_asked_for() -> None:
    assert all(8_000 < len(text) < 13_000 for text in returns_of(10_000).values())


@pytest.mark.shared_data
def test_the_table_saves_a_quarter_of_the_tokens_on_both_recorded_sets(shared_data: Path) -> None:
    count, method = o200k()
    if method != "o200k_base":
        pytest.skip("the vocabulary of gpt-4o is not on this machine")
    sums = prompt_tokens(list(read_runs(shared_data)), "table", count)
    assert {domain: one["calls"] for domain, one in sums.items()} == {"airline": 2_454, "retail": 619}
    assert {domain: round(one["raw"] / one["calls"]) for domain, one in sums.items()} == {
        "airline": 1_495,
        "retail": 1_051,
    }
    for one in sums.values():
        assert one["history"] + one["facts"] + one["state"] < 0.75 * one["raw"]
