from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from dspy import lm15
from scripted_lm import Answer, Script, lm_of, prompt_of

from eval.envs.protocol import Observation, Reply, Stop
from eval.envs.userbench import SETS, UserBench, grades, native_text, translated, unusable
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

SEARCH = ToolCall.of("search", query="flights to Lumby")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Reply(text="[answer] F1"), "[action] [answer] F1"),
        (SEARCH, "[search] flights to Lumby"),
        (ToolCall.of("answer", option_id=" F8 "), "[answer] F8"),
        (Stop(text="Bye"), "[finish]"),
    ],
)
def test_actions_in_its_words(action: Any, text: str) -> None:
    assert native_text(action) == text


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (ToolCall.of("interact_with_env", content="x"), "there is no tool interact_with_env"),
        (ToolCall.of("answer", option_id=8), "answer needs option_id as text"),
        (SEARCH, ""),
    ],
)
def test_calls_of_neither_tool_are_refused(call: ToolCall, says: str) -> None:
    assert says in unusable(call) and bool(unusable(call)) == bool(says)


@pytest.mark.parametrize(
    ("feedback", "error"),
    [
        ("Currently the searching backend is experiencing some issues. Try later.", True),
        ("There's something wrong within your searching request, or ...", True),
        ("Invalid option ID format detected for 'x'.", True),
        ('All options:\n{"id": "F1", "cost": 80}', False),
        ("Your chosen options contain the best option!", False),
    ],
)
def test_feedback_of_the_database(feedback: str, error: bool) -> None:
    assert translated(SEARCH, feedback) == Observation(source="tool", text=feedback, call=SEARCH, error=error)


def test_feedback_of_the_user() -> None:
    assert translated(Reply(text="?"), "backend is experiencing") == Observation(
        source="user", text="backend is experiencing"
    )
    assert translated(Stop(), "Session ended.") is None


def test_grades_come_from_what_is_still_to_be_found() -> None:
    about = {
        "flight": {"best_id": "F1", "correct_ids": ["F1", "F2"]},
        "hotel": {"best_id": "H1", "correct_ids": ["H1", "H2"]},
        "rental_car": {"best_id": "C1", "correct_ids": ["C1"]},
        "restaurant": {"best_id": "R1", "correct_ids": ["R1"]},
    }
    state = {
        "remaining_best_options": ["H1", "C1", "R1"],
        "remaining_correct_options": ["F2", "H1", "C1", "R1"],
        "choice_initials": ["F", "H", "C"],
    }
    assert grades({"dimensions": list(about), "preferences": about}, state) == {
        "flight": "best",
        "hotel": "correct",
        "rental_car": "wrong",
        "restaurant": None,
    }


def scenario() -> dict[str, Any]:
    options = {
        "correct": [{"id": "F1", "cost": 80}, {"id": "F2", "cost": 95}],
        "wrong": [{"id": "F3", "cost": 70}],
        "noise": [{"id": "F4", "cost": 10}],
    }
    return {
        "scenario": "A flight to Lumby.",
        "initial_description": "I want to fly to Lumby.",
        "dimensions": ["flight"],
        "wanted_num": [2],
        "flight": {
            "preferences": [
                ["flight", "baggage", "Wants a bag included.", "I bring a lot home."],
                ["flight", "stops", "Wants no stops.", "I dislike waiting at airports."],
            ],
            "arguments": {"destination": "Lumby"},
            "options": options,
            "correct_ids": ["F1", "F2"],
            "best_id": "F1",
        },
    }


def played_by(request: lm15.Request) -> Answer:
    prompt = prompt_of(request)
    if "alignment_judgement" in prompt:
        return {"alignment_judgement": "True", "alignment_aspect": "flight"}
    if '"type": "1/2/3/4"' in prompt:
        return {"type": "2", "preference_id": "P1"}
    return {"thought": "", "response": "I always bring a lot home."}


@pytest.fixture
def made_up(userbench_checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package with one made-up scenario: its own data files are not always there."""
    pytest.importorskip("gymnasium")
    shutil.copytree(userbench_checkout / "travelgym", tmp_path / "travelgym", ignore=shutil.ignore_patterns("data"))
    (tmp_path / "travelgym" / "data").mkdir()
    for name in SETS:
        text = json.dumps({"trip-1": scenario()} if name == "22" else {})
        (tmp_path / "travelgym" / "data" / f"travelgym_data_{name}.json").write_text(text, encoding="utf-8")
    folder = tmp_path / "data" / "travel22_multiturn_onechoice"
    folder.mkdir(parents=True)
    rows = [{"reward_model": {"id": "trip-1"}, "prompt": [{"role": "system", "content": "Find the best trip."}]}]
    pd.DataFrame(rows).to_parquet(folder / "test.parquet")
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in [name for name in sys.modules if name.partition(".")[0] == "travelgym"]:
        monkeypatch.delitem(sys.modules, module)
    return tmp_path


def test_an_episode_with_a_named_lm(made_up: Path) -> None:
    script = Script(played_by)
    environment = UserBench("22", user=lm_of(script))
    assert [task.id for task in environment.tasks] == ["trip-1"]
    assert environment.reset("trip-1").text == "I want to fly to Lumby."
    assert environment.policy.startswith("Find the best trip.")
    searched = environment.step(SEARCH)
    assert searched.observation is not None and '"F4"' in searched.observation.text and not searched.observation.error
    asked = environment.step(Reply(text="How much baggage do you take?"))
    assert asked.observation == Observation(source="user", text="I always bring a lot home.")
    assert asked.details["preferences"] == {"total": 2, "active": 1, "passive": 0}
    before = len(script.requests)
    wrong_tool = environment.step(ToolCall.of("book", id="F1"))
    assert wrong_tool.observation is not None and wrong_tool.observation.error and not wrong_tool.done
    done = environment.step(ToolCall.of("answer", option_id="F2"))
    assert (done.done, done.termination, done.reward) == (True, "env_done", 0.8)
    assert done.details["aspects"] == {"flight": "correct"}
    # its own ratio would now count the aspect's preferences as gone
    assert done.details["preferences"]["total"] == 2
    assert len(script.requests) == before
    with pytest.raises(RuntimeError, match="reset"):
        environment.step(Stop())
    environment.reset("trip-1")
    stopped = environment.step(Stop())
    assert (stopped.reward, stopped.termination, stopped.details["aspects"]) == (0.0, "agent_stop", {"flight": None})


def test_what_is_missing_is_named(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="--user-lm"):
        UserBench("22").reset("trip-1")
    with pytest.raises(InputError, match="test.parquet is missing; set TRAVELGYM_DATA_PATH"):
        UserBench("33")
    (made_up / "travelgym" / "data" / "travelgym_data_44.json").unlink()
    with pytest.raises(InputError, match="whole checkout"):
        UserBench("22")
