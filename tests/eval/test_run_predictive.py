"""Questions for probabilities in a run: counted for the session or query that asks, within the budget, asked once."""

import pytest
from letter_server import letter_lm
from predictive_world import CHEAP, CHEAP_SESSIONS, FOOD, TOOLS, taste
from scripted_run import scripted_run

from eval.instance import Benchmark, Instance
from eval.journal import read_lines
from prefine_dspy.errors import BudgetExhausted
from prefine_dspy.types import History, Query
from programs.predictive import PredictiveSystem

HISTORIES = {name: History(id=name, sessions=CHEAP_SESSIONS) for name in ("h0", "h1")}
INSTANCES = [
    Instance(
        id=f"{name}q",
        history_id=name,
        query=Query.of("Find me a restaurant"),
        query_type="cf",
        reasoning_type="recall",
        gold=(FOOD,),
    )
    for name in HISTORIES
]
BENCHMARK = Benchmark(
    "small",
    HISTORIES,
    INSTANCES,
    {"base": TOOLS, "base_cf": TOOLS},
    {"GetRestaurants": ("price_range",)},
    "small1",
)


@pytest.fixture
def go(monkeypatch):
    servers = []

    def run(out, **options):
        """One process's worth: nothing is known but what the run's folder holds."""
        call = {"call": {"function": "GetRestaurants", "arguments": {}}}
        lm, server = letter_lm(monkeypatch, taste, lambda messages: call)
        servers.append(server)
        # no recurring choices, so that the query asks, too
        systems = {"predictive": PredictiveSystem(samples=0, bank=[CHEAP], evidence=0)}
        scripted_run(out, None, systems=systems, benchmark=BENCHMARK, lm=lm.copy(cache=True), **options)

    run.servers = servers
    yield run
    for server in servers:
        server.close()


def test_questions_are_counted_where_they_are_asked_and_a_resumed_run_asks_none_again(go, tmp_path):
    go(tmp_path / "whole")
    memories, items = (read_lines(tmp_path / "whole" / f"{name}.jsonl") for name in ("memories", "items"))
    assert [one["calls"][0]["arguments"] for one in items] == [{"price_range": "cheap"}] * 2
    first = memories[0]["usage"]
    asked = memories[0]["attempts"][0]
    assert first["lm_calls"] == asked["questions"] > 0
    read = first["input_tokens"] - first["cache_read_tokens"] + first["output_tokens"]
    assert read == asked["evaluated_tokens"] > 0
    # the second user's are known
    assert [one["usage"]["lm_calls"] for one in memories if one["history_id"] == "h1"] == [0, 0, 0]
    assert items[0]["usage"]["lm_calls"] >= 1
    calls = sum(one["usage"]["lm_calls"] for one in (*memories, *items))

    for limit in (2, 5):
        with pytest.raises(BudgetExhausted, match=f"--max-calls {limit}"):
            go(tmp_path / "parts", max_calls=limit)
    assert calls > 5
    go(tmp_path / "parts")
    # together the processes asked what the undisturbed one did, and came to the same
    later = go.servers[1:]
    assert sum(len(one.prompts) for one in later) == len(go.servers[0].prompts)
    assert sum(len(one.chats) for one in later) == len(go.servers[0].chats)
    resumed = read_lines(tmp_path / "parts" / "items.jsonl")
    assert [one["calls"] for one in resumed] == [one["calls"] for one in items]
