"""Figures of a run on episodes from its lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from eval.envs.episode import Episode, EpisodeStep, LmUsage
from eval.envs.protocol import EnvTask, Observation, Reply
from eval.envs.tau_bench import recorded_episode
from eval.tasks.episodes_markdown import brief_text, report_text
from eval.tasks.episodes_record import notes_of, outcome_in, prompt_tokens, record_of
from eval.tasks.episodes_tables import curve, summarise

HI = Observation(source="user", text="Hi")
USAGE: dict[str, Any] = {
    **dict.fromkeys(("lm_calls", "cached_calls", "failed_calls", "unreported_calls"), 0),
    **dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "lm_seconds"), 0),
    "cost": None,
}


def line(episode: Episode, program: str = "react", seconds: float = 1.0) -> dict[str, Any]:
    """An item as `eval.run` writes it, read back."""
    item = record_of(
        program, "e", EnvTask(id=episode.task_id, group=episode.group), episode.trial, episode, failure=None
    )
    rest = {"program": program, "id": episode.id, "usage": USAGE, "seconds": seconds, "error": None}
    return json.loads(json.dumps({**item, **rest}))


def episode(task: str = "a", trial: int = 0, reward: float = 1.0, **rest: Any) -> Episode:
    given = {"environment": "e", "opening": HI, "termination": "user_stop", **rest}
    return Episode(task_id=task, trial=trial, reward=reward, **given)


def used(tokens: int, calls: int = 1, **rest: Any) -> EpisodeStep:
    usage = LmUsage(lm_calls=calls, input_tokens=tokens, output_tokens=1)
    return EpisodeStep(action=Reply(text="?"), observation=HI, agent=usage, environment=LmUsage(), **rest)


def test_pass_hat_goes_up_to_the_fewest_trials_of_a_task() -> None:
    found = summarise([line(episode("a", trial, reward=float(trial < 2))) for trial in range(3)] + [line(episode("b"))])
    program = found["programs"]["react"]
    assert (program["tasks"], program["trials"], program["items"]) == (2, 1, 4)
    assert list(program["pass_hat"]) == ["1"] and program["average"]["value"] == pytest.approx(83.33)
    assert program["statuses"] == {"ok": 3, "wrong": 1, "parse_error": 0, "lm_error": 0}


def test_programs_are_compared_with_the_first_on_common_tasks() -> None:
    ours = [line(episode(task, reward=0.0), "idss") for task in "bcd"]
    theirs = [line(episode(task), "react") for task in "abc"]
    cells = summarise([*theirs, *ours])["deltas"]
    assert list(cells) == ["idss"] and cells["idss"]["react"]["reward"] == {
        "value": -100.0,
        "low": -100.0,
        "high": -100.0,
        "n": 2,
    }
    assert "asked" not in cells["idss"]["react"], "no side tells what it asked"


def test_prompt_tokens_by_step_end_where_few_episodes_go_on() -> None:
    long = line(episode("long", steps=(used(100), used(300, calls=2), used(0, calls=0), used(900))))
    assert long["prompt_tokens"] == [100, 150, None, 900]
    short = [line(episode(str(number), steps=(used(200),))) for number in range(20)]
    assert curve([*short[:1], long]) == [
        {"step": 1, "tokens": 150.0, "episodes": 2},
        {"step": 2, "tokens": 150.0, "episodes": 1},
    ]
    assert [point["step"] for point in curve([*short, long])] == [1]
    assert prompt_tokens(episode(steps=(EpisodeStep(action=Reply(text="?")),))) == [None]


def test_only_numbers_are_summed_of_notes() -> None:
    notes = [{"unparsed": 1, "thought": "hm", "complete": True}, {"unparsed": 2, "filled": 1}]
    assert notes_of(episode(steps=tuple(used(1, notes=one) for one in notes))) == {"unparsed": 3, "filled": 1}


def test_a_line_keeps_all_that_the_figures_need() -> None:
    first = episode(group="hard", steps=(used(10, details={"asked": ["seat"], "violations": ["no"], "checks": {}}),))
    item = line(first)
    assert outcome_in(item).figures.asked == 1 and outcome_in(item).group == "hard"
    assert item["violations"] == ["no"] and item["details"] == {"checks": {}}
    assert summarise([item])["programs"]["react"]["groups"]["hard"]["asked"]["value"] == 1


def test_every_table_is_written_for_one_program_and_for_none() -> None:
    text = report_text(summarise([line(episode("a", steps=(used(5),)))]), ())
    assert "Avg@1" in text and "Paired differences" not in text and "PE, active" not in text
    assert "of the user" not in text, "no LM played a user"
    assert brief_text(summarise([])) == ""


@pytest.mark.shared_data
def test_recorded_airline_runs_give_the_published_figures_through_the_lines_of_a_run(shared_data: Path) -> None:
    with gzip.open(shared_data / "tau_trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(one) for one in lines]
    items = [line(recorded_episode(one)) for one in records if one["domain"] == "airline"]
    program = summarise(items)["programs"]["react"]
    assert [program["pass_hat"][str(k)]["value"] for k in range(1, 5)] == pytest.approx(
        [42.0, 27.3, 22.0, 20.0], abs=0.05
    )
    assert (program["average"]["value"], program["tasks"], program["trials"]) == (42.0, 50, 4)
