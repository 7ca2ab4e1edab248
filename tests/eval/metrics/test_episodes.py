from __future__ import annotations

import gzip
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.envs.episode import Episode, EpisodeStep, LmUsage
from eval.envs.protocol import Observation, Reply
from eval.envs.tau_bench import recorded_episode
from eval.metrics.episode_figures import figures_of
from eval.metrics.episodes import (
    MEANS,
    Outcome,
    by_task,
    outcome_of,
    pass_any,
    pass_hat,
    summary,
    task_difference,
    task_interval,
)
from prefine_dspy.types import ToolCall

HI = Observation(source="user", text="Hi")


def episode(task: str = "a", trial: int = 0, reward: float = 1.0, **rest: Any) -> Episode:
    return Episode(
        **{
            "environment": "e",
            "task_id": task,
            "trial": trial,
            "opening": HI,
            "reward": reward,
            "termination": "user_stop",
            **rest,
        }
    )


def outcome(*given: Any, **rest: Any) -> Outcome:
    return outcome_of(episode(*given, **rest))


def details(**found: Any) -> tuple[EpisodeStep, ...]:
    return (EpisodeStep(action=Reply(text="?"), observation=HI, details=found),)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_hat_counts_the_draws_in_which_all_succeed(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    draws = [sum(one) for one in combinations([1] * c + [0] * (n - c), k)]
    assert pass_hat(n, c, k) == pytest.approx(sum(one == k for one in draws) / len(draws))
    assert pass_any(n, c, k) == pytest.approx(sum(one > 0 for one in draws) / len(draws))


@pytest.mark.parametrize("k", [0, 5])
def test_pass_hat_needs_enough_trials(k: int) -> None:
    with pytest.raises(ValueError, match="trials of every task; there are 4"):
        pass_hat(4, 2, k)


def test_tasks_weigh_the_same_however_many_trials_they_have() -> None:
    found = summary([outcome("a", 0, 1.0), outcome("b", 0, 0.0), outcome("b", 1, 0.0), outcome("b", 2, 0.0)])
    assert (found.average.value, found.tasks, found.trials, found.episodes) == (0.5, 2, 1, 4)
    assert list(found.pass_hat) == [1]


def test_a_trial_counts_once() -> None:
    with pytest.raises(ValueError, match="e a/0 is there twice"):
        by_task([outcome(), outcome()])


def test_nothing_played_is_no_error() -> None:
    found = summary([])
    assert (found.average.value, found.tasks, found.pass_hat, found.means) == (0.0, 0, {}, {})


def test_intervals_resample_tasks() -> None:
    found = task_interval([0.0] * 50 + [1.0] * 50)
    assert found.value == 0.5 and 0.39 < found.low < 0.42 and 0.58 < found.high < 0.61 and found.clusters == 100
    assert task_interval([3.0, 3.0]) == (3.0, 3.0, 3.0, 2, 2)


def test_a_difference_is_paired_over_common_tasks() -> None:
    a = [outcome(str(number), reward=1.0) for number in range(20)]
    b = [outcome(str(number), reward=float(number % 2)) for number in range(1, 30)]
    found = task_difference(a, b)
    assert found.n == 19 and found.value == pytest.approx(9 / 19) and found.p == 0.0
    assert task_difference(a, b, MEANS["asked"]).n == 0


def test_lengths_and_costs() -> None:
    call = ToolCall.of("get_x")
    steps = (
        EpisodeStep(action=call, observation=Observation(source="tool", text="Error: x", call=call, error=True)),
        EpisodeStep(action=Reply(text="?"), observation=HI, details={"asked": ["seat", "meal"]}),
    )
    used = LmUsage(lm_calls=2, input_tokens=300, output_tokens=20)
    found = figures_of(episode(steps=tuple(one.model_copy(update={"agent": used}) for one in steps)))
    assert (found.turns, found.steps, found.tool_calls, found.failed_calls, found.asked) == (2, 2, 1, 1, 2)
    assert (found.lm_calls, found.tokens_per_turn, found.prompt_tokens_per_call) == (4, 320.0, 150.0)
    unmeasured = figures_of(episode(steps=steps))
    assert (unmeasured.lm_calls, unmeasured.tokens_per_turn, unmeasured.prompt_tokens_per_call) == (None, None, None)


def test_userbench_figures() -> None:
    aspects = {"flight": "best", "hotel": "correct", "restaurant": None, "apartment": "wrong"}
    found = figures_of(episode(steps=details(aspects=aspects, preferences={"total": 8, "active": 2, "passive": 1})))
    assert (found.score, found.cer, found.ber) == (0.45, 0.5, 0.25)
    assert (found.active_pe, found.passive_pe) == (0.25, 0.125)
    assert figures_of(episode(steps=details(preferences={"total": 0, "active": 0, "passive": 0}))).active_pe is None


def test_rubrics() -> None:
    assert figures_of(episode(steps=details(rubrics={"met": 3, "total": 4}))).rubrics == 0.75


def test_only_what_is_reported_is_averaged() -> None:
    found = summary([outcome("a", steps=details(rubrics={"met": 1, "total": 2})), outcome("b", group="hard", reward=0)])
    assert found.means["rubrics"].value == 0.5 and found.means["rubrics"].n == 1
    assert "score" not in found.means and found.groups["hard"].value == 0.0
    assert found.terminations == {"user_stop": 2}


@pytest.mark.shared_data
def test_recorded_airline_runs_give_the_published_figures(shared_data: Path) -> None:
    with gzip.open(shared_data / "tau_trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    airline = [recorded_episode(one) for one in records if one["domain"] == "airline"]
    found = summary(map(outcome_of, airline))
    assert (found.tasks, found.trials, found.episodes) == (50, 4, 200)
    assert found.average.value == pytest.approx(0.42)
    assert [round(found.pass_hat[k].value, 3) for k in range(1, 5)] == [0.420, 0.273, 0.220, 0.200]
    assert found.means["turns"].value == pytest.approx(7.45)
    assert found.means["tool_calls"].value * 200 == pytest.approx(1164)
