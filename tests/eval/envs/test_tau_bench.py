from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from scripted_lm import Script, lm_of

from eval.envs.protocol import EnvTask, Reply, Step, Stop
from eval.envs.tau_bench import (
    STOP_TOKEN,
    TRANSFER_TOOL,
    TauBench,
    is_write,
    recorded_episode,
    reward_details,
    time_in,
    tool_observation,
    translated,
    user_observation,
)
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

CALL = ToolCall.of("get_thing", thing_id="T1")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Error: thing not found", True),
        ("Unknown action get_thing", True),
        ('{"note": "Error: none"}', False),
        ("", False),
        ("327.0", False),
    ],
)
def test_errors_are_known_by_how_they_begin(text: str, error: bool) -> None:
    found = tool_observation(CALL, text)
    assert (found.error, found.text, found.call) == (error, text, CALL)


def test_the_agent_never_sees_the_stop_token() -> None:
    assert user_observation(f"Thanks. {STOP_TOKEN}").text == "Thanks."
    last = translated(Reply(text="Bye."), STOP_TOKEN, True, 1.0, None)
    assert last == Step(observation=None, reward=1.0, done=True, termination="user_stop")


def test_a_transfer_ends_the_episode() -> None:
    step = translated(ToolCall.of("transfer_to_human_agents", summary="s"), "Transfer successful", True, 0.0, None)
    assert step.termination == "transfer" and step.observation is not None


def test_the_reward_of_a_step_before_the_end_is_none() -> None:
    assert translated(CALL, "{}", False, 0, None).reward is None


@pytest.mark.parametrize(
    ("info", "checks"),
    [
        ({"reward": 1.0, "info": {"r_actions": 1.0, "gt_data_hash": "h"}}, {"database": True}),
        ({"reward": 0.0, "info": {"r_actions": 0.0, "gt_data_hash": "h"}}, {"database": False}),
        ({"reward": 0.0, "info": {"r_outputs": 1.0, "outputs": {"7": True}}}, {"outputs": True, "database": False}),
        ({"reward": 0.0, "info": {"r_outputs": 0.0, "outputs": {"7": False}}}, {"outputs": False}),
    ],
)
def test_what_a_reward_says(info: dict[str, Any], checks: dict[str, bool]) -> None:
    assert reward_details(info)["checks"] == checks


def test_reads_and_writes_are_told_apart() -> None:
    names = ["get_x", "find_x", "search_x", "list_all", "calculate", "think", "book_x", "transfer_to_human_agents"]
    assert [is_write(name) for name in names] == [False] * 6 + [True] * 2


def test_the_time_comes_from_the_policy() -> None:
    assert time_in("... The current time is 2031-01-02 03:04:05 EST. ...") == "2031-01-02T03:04:05"
    assert time_in("no time") is None


def test_a_recorded_run_becomes_an_episode() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "book_it", "arguments": '{"id": "A"}'}}
    broken = {"id": "d", "type": "function", "function": {"name": "get_it", "arguments": "{"}}
    record = {
        "domain": "retail",
        "task_id": 3,
        "trial": 2,
        "reward": 1.0,
        "outputs": ["7"],
        "messages": [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Which?"},
            {"role": "user", "content": "A"},
            {"role": "assistant", "content": None, "tool_calls": [broken]},
            {"role": "tool", "tool_call_id": "d", "name": "get_it", "content": "Error: no"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "name": "book_it", "content": "ok"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": STOP_TOKEN},
        ],
    }
    episode = recorded_episode(record)
    assert (episode.environment, episode.id, episode.termination) == ("tau:retail", "3/2", "user_stop")
    assert episode.calls(executed=True) == [ToolCall.of("book_it", id="A")] and len(episode.calls()) == 2
    assert episode.writes == ("book_it",)
    assert [one["role"] for one in episode.messages()] == [
        *("user", "assistant", "user", "assistant", "tool", "assistant", "tool", "assistant", "user")
    ]
    assert type(episode).model_validate_json(episode.model_dump_json()) == episode


def test_absent_it_says_how_to_install(nothing_installed: None) -> None:
    with pytest.raises(InputError, match="pip install --no-deps git.*sierra-research/tau-bench.*builtin"):
        TauBench("airline")


class Silent:
    """A user who says something once and then leaves."""

    def reset(self, instruction: str | None = None) -> str:
        return "Hi."

    def step(self, content: str) -> str:
        return STOP_TOKEN

    def get_total_cost(self) -> float:
        return 0.0


def replay(environment: TauBench, task_id: str, spoil: bool = False) -> float:
    environment.reset(task_id)
    task = environment.tasks[int(task_id)]
    for call in task.gold:
        arguments = {**call.arguments, "user_id": "nobody_0000", "order_id": "#W0"} if spoil else call.arguments
        kept = {key: value for key, value in arguments.items() if key in call.arguments}
        step = environment.step(ToolCall(name=call.name, arguments=kept))
        if step.done:
            return step.reward or 0.0
    step = environment.step(Reply(text=" ".join(task.outputs) or "Done."))
    assert step.done and step.observation is None
    return step.reward or 0.0


IDS = {"user_id", "order_id"}
# all tasks take minutes; PREFINE_TAU_BENCH_ALL=1 plays them
EVERY = bool(os.environ.get("PREFINE_TAU_BENCH_ALL"))


@pytest.mark.parametrize(("domain", "tasks"), [("airline", 50), ("retail", 115)])
def test_gold_replay_earns_every_reward(tau_bench_checkout: Path, domain: Any, tasks: int) -> None:
    environment = TauBench(domain, user=Silent())
    assert len(environment.tasks) == tasks
    played = environment.tasks if EVERY else environment.tasks[:3]
    assert {task.id: replay(environment, task.id) for task in played} == {task.id: 1.0 for task in played}


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_wrong_ids_fail(tau_bench_checkout: Path, domain: Any) -> None:
    environment = TauBench(domain, user=Silent())
    changing = (task.id for task in environment.tasks if is_changed_by_gold(environment, task))
    rewards = {one: replay(environment, one, spoil=True) for one in islice(changing, None if EVERY else 2)}
    assert len(rewards) >= 2 and set(rewards.values()) == {0.0}


def is_changed_by_gold(environment: TauBench, task: EnvTask) -> bool:
    """Whether a call that names a user or an order gets through: a gold call may fail on purpose, and a spoilt one then
    does as well."""
    writes = [one for one in task.gold if one.name in environment.writes and IDS & one.arguments.keys()]
    if not writes or task.gold[-1].name == TRANSFER_TOOL:
        return False
    environment.reset(task.id)
    answers = [environment.step(one).observation for one in writes]
    return any(one is not None and not one.error for one in answers)


def test_the_user_is_played_by_the_named_lm(tau_bench_checkout: Path) -> None:
    script = Script(["I want to book.", "My id is X.", f"{STOP_TOKEN}"])
    environment = TauBench("airline", user=lm_of(script))
    assert environment.now == "2024-05-15T15:00:00" and len(environment.tools) == 14
    assert environment.reset("0").text == "I want to book."
    answered = environment.step(Reply(text="Your id?"))
    assert answered.observation is not None and answered.observation.text == "My id is X." and not answered.done
    unknown = environment.step(ToolCall.of("respond", content="x"))
    assert unknown.observation is not None and unknown.observation.error
    assert environment.step(Reply(text="Bye.")).termination == "user_stop"
    assert len(script.requests) == 3 and "Instruction" in str(script.requests[0])


def test_without_an_lm_the_user_cannot_speak(tau_bench_checkout: Path) -> None:
    with pytest.raises(InputError, match="--user-lm"):
        TauBench("airline").reset("0")


def test_stopping_is_judged_once(tau_bench_checkout: Path) -> None:
    environment = TauBench("retail", user=Silent())
    environment.reset("0")
    step = environment.step(Stop(text="Bye."))
    assert (step.reward, step.termination, step.details["checks"]["database"]) == (0.0, "agent_stop", False)
    with pytest.raises(RuntimeError, match="reset"):
        environment.step(Stop())


@pytest.mark.shared_data
def test_recorded_runs_are_read(shared_data: Path) -> None:
    import gzip

    with gzip.open(shared_data / "tau_trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    episodes = [recorded_episode(record) for record in records]
    assert sum(len(episode.calls()) for episode in episodes) == 1746
    answers = [step.observation for episode in episodes for step in episode.steps]
    assert sum(one is not None and one.error for one in answers) == 73 + 24
    assert not any(one is not None and STOP_TOKEN in one.text for one in answers)
