"""`python -m eval.run` and `eval.report` on episodes: the same loop as for the other benchmarks, trials in place of
items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15
from scripted_episodes import SCRIPTED, TalkingEnvironment
from scripted_run import ScriptedEngine, scripted_lm
from typer.testing import CliRunner

from eval import run as cli
from eval.envs.episode import Episode
from eval.envs.load import load_environment
from eval.envs.protocol import EnvTask
from eval.journal import Journal, read_lines
from eval.report import app as report_app
from eval.tasks import episodes
from eval.tasks.episodes_record import record_of
from eval.usage import Usage
from programs import SYSTEMS, Entry


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """The command with a scripted LM and scripted agents."""
    engine = ScriptedEngine()
    for name, kind in {**SCRIPTED, "chatty": "ChattySystem"}.items():
        monkeypatch.setitem(SYSTEMS, name, Entry("episodes", f"scripted_episodes:{kind}"))
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name: scripted_lm(engine, f"scripted/{name}"))
    return engine


def invoke(out: Path, *words: str, data: str = "builtin:preference:dev") -> Any:
    return CliRunner().invoke(cli.app, ["--lm", "one", "--data", data, "--out", str(out), *words])


def test_two_programs_are_played_told_apart_and_compared(tmp_path: Path, engine: ScriptedEngine) -> None:
    run = tmp_path / "run"
    words = ["--program", "gold", "--program", "gold:preferences=false", "--trials", "2", "--num-threads", "2"]
    result = invoke(run, *words)
    assert result.exit_code == 0, result.output
    assert "Avg@2" in result.stdout and "pass^2" in result.stdout and "questions" in result.stdout
    assert "episodes 8/8" in result.stderr

    items, transcripts = read_lines(run / "items.jsonl"), read_lines(run / "transcripts.jsonl")
    keys = [(one["program"], one["id"]) for one in items]
    assert len(set(keys)) == 8 and sorted(keys) == sorted((one["program"], one["id"]) for one in transcripts)
    told = {(one["program"], one["id"]): Episode.model_validate(one["episode"]) for one in transcripts}
    for item in items:
        episode, figures = told[item["program"], item["id"]], item["figures"]
        assert (item["status"], item["reward"], item["success"], item["remembered"]) == ("ok", 1.0, True, True)
        assert item["termination"] == episode.termination == "user_stop"
        assert (item["task"], item["trial"], item["group"]) == (episode.task_id, episode.trial, "preference")
        assert figures["steps"] == figures["lm_calls"] == len(episode.steps) == item["usage"]["lm_calls"]
        assert figures["tool_calls"] == 1 and figures["user_lm_calls"] == figures["judge_lm_calls"] == 0
        assert figures["prompt_tokens_per_call"] > 0 and figures["tokens_per_turn"] > 0
        assert len(item["prompt_tokens"]) == figures["steps"]
        assert item["notes"] == {"unparsed": 1}, "truth values and texts are no counts"
        assert item["details"] == {"checks": {"database": True, "outputs": True}} and not item["violations"]
        assert item["error_labels"] == dict.fromkeys(item["error_labels"], False)

    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    with_memory, without = summary["programs"].values()
    assert with_memory["pass_hat"]["2"] == {"value": 100.0, "low": 100.0, "high": 100.0, "n": 2}
    assert with_memory["means"]["asked"]["value"] < without["means"]["asked"]["value"]
    delta = summary["deltas"]["gold:preferences=false"]["gold"]
    assert delta["reward"]["value"] == 0 and delta["asked"]["value"] > 0 and delta["asked"]["n"] == 2
    assert with_memory["groups"]["preference"]["asked"] == with_memory["means"]["asked"]
    assert [point["step"] for point in without["prompt_tokens"]] == [1, 2, 3, 4]
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))["config"]
    assert (config["task"], config["trials"], config["split"], config["user_lm"]) == ("episodes", 2, None, None)

    report = CliRunner().invoke(report_app, [str(run)])
    assert report.exit_code == 0, report.output
    for title in ("Episodes (%", "Paired differences", "A mean episode", "Avg by group", "What ended", "Noted by"):
        assert title in report.stdout
    written = {path.name for path in (run / "report").iterdir()}
    assert {"prompt_tokens.png", "reward_by_group.png", "scores.csv", "costs.csv", "report.md"} <= written
    rows = (run / "report/scores.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "program,figure,value,low,high,n" and "gold,pass^2,100.0,100.0,100.0,2" in rows


def test_the_budget_holds_and_a_resumed_run_pays_nothing_twice(tmp_path: Path, engine: ScriptedEngine) -> None:
    run = tmp_path / "run"
    words = ["--program", "gold", "--trials", "2"]
    assert invoke(run, *words, "--max-calls", "5").exit_code == 3 and engine.calls == 5
    assert len(read_lines(run / "items.jsonl")) < 4
    result = invoke(run, *words, "--resume")
    assert result.exit_code == 0, result.output
    needed = sum(one["usage"]["lm_calls"] for one in read_lines(run / "items.jsonl"))
    assert engine.calls == needed
    assert len(read_lines(run / "transcripts.jsonl")) == len(read_lines(run / "items.jsonl")) == 4


def test_a_transcript_without_its_item_is_written_anew(tmp_path: Path, engine: ScriptedEngine) -> None:
    """A process may die between the two, and the next one again."""
    run = tmp_path / "run"
    words = ["--program", "gold"]
    invoke(run, *words)
    before, calls = read_lines(run / "transcripts.jsonl"), engine.calls
    for _ in range(2):
        whole = (run / "items.jsonl").read_bytes()
        (run / "items.jsonl").write_bytes(whole[: whole[:-1].rfind(b"\n") + 1])
        assert invoke(run, *words, "--resume").exit_code == 0
    after = read_lines(run / "transcripts.jsonl")
    assert [one["id"] for one in after] == [one["id"] for one in before] and engine.calls == calls


def test_an_episode_played_by_two_workers_has_one_transcript(tmp_path: Path) -> None:
    class Folder:
        items, transcripts = Journal(tmp_path / "items.jsonl"), Journal(tmp_path / "transcripts.jsonl")

    for number in range(2):
        Folder.transcripts.append({"program": "gold", "id": "meal/0", "episode": number})
    item = record_of("gold", "builtin", EnvTask(id="meal"), 0, None, None)
    Folder.items.append(
        {"program": "gold", "id": "meal/0", **item, "usage": Usage().as_json(), "seconds": 1.0, "error": None}
    )
    task = episodes.EpisodesTask({}, episodes.Environments("builtin", "builtin"), [], dspy.LM("none/none"))
    folder: Any = Folder
    assert task.summary(folder)["items"] == 1
    assert [one["episode"] for one in read_lines(tmp_path / "transcripts.jsonl")] == [1]


def test_an_agent_that_cannot_go_on_has_lost_and_keeps_its_transcript(tmp_path: Path, engine: ScriptedEngine) -> None:
    result = invoke(tmp_path / "run", "--program", "broken")
    assert result.exit_code == 1 and "100% of the items ended" in result.stderr
    for item in read_lines(tmp_path / "run/items.jsonl"):
        assert (item["status"], item["reward"], item["termination"]) == ("parse_error", 0.0, "error")
        assert item["agent_error"].startswith("AdapterParseError") and item["error"] is None
        assert item["figures"]["lm_calls"] == 2, "the answer that could not be used was paid, too"
    first = read_lines(tmp_path / "run/transcripts.jsonl")[0]["episode"]["steps"][0]["notes"]
    assert first["half"] == "\udce9"


def test_an_lm_error_is_an_episode_without_reward_and_is_played_again(tmp_path: Path, engine: ScriptedEngine) -> None:
    engine.fail = lambda prompt: lm15.ServerError("down") if "gold 0 3" in prompt else None
    words = ["--program", "gold", "--max-failures", "1"]
    result = invoke(tmp_path / "run", *words)
    assert result.exit_code == 0, result.output
    lost = [one for one in read_lines(tmp_path / "run/items.jsonl") if one["status"] == "lm_error"]
    assert lost and all(
        one["reward"] == 0 and one["figures"]["turns"] is None and one["error"]["retry"] for one in lost
    )
    summary = json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8"))
    assert summary["programs"]["gold"]["average"]["value"] < 100 and summary["failed_share"] > 0
    engine.fail = None
    assert invoke(tmp_path / "run", *words, "--resume").exit_code == 0
    assert {one["status"] for one in read_lines(tmp_path / "run/items.jsonl")} == {"ok"}


def test_a_trial_that_did_not_come_about_belongs_to_its_task(tmp_path: Path, engine: ScriptedEngine) -> None:
    """Also where the data's name is longer than what episodes call their environment."""
    engine.fail = lambda prompt: lm15.ServerError("down") if "gold 0 3" in prompt else None
    result = invoke(tmp_path / "run", "--program", "gold", "--trials", "2", "--max-failures", "1")
    assert result.exit_code == 0, result.output
    row = json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8"))["programs"]["gold"]
    assert (row["items"], row["tasks"], row["trials"]) == (4, 2, 2)
    assert (row["average"]["value"], row["pass_hat"]["2"]["value"]) == (50, 0)


def test_calls_of_user_and_judge_are_told_apart(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "load_environment", TalkingEnvironment)
    words = ["--program", "chatty", "--user-lm", "two", "--judge-lm", "three"]
    result = invoke(tmp_path / "run", *words, data="vita:delivery")
    assert result.exit_code == 0, result.output
    for item in read_lines(tmp_path / "run/items.jsonl"):
        figures = item["figures"]
        assert (figures["lm_calls"], figures["user_lm_calls"], figures["judge_lm_calls"]) == (3, 3, 2)
        assert item["usage"]["lm_calls"] == 8 and (item["status"], figures["rubrics"]) == ("wrong", 0.5)
        assert item["details"] == {"rubrics": {"met": 1, "total": 2}} and figures["asked"] is None
    config = json.loads((tmp_path / "run/config.json").read_text(encoding="utf-8"))["config"]
    assert (config["user_lm"]["model"], config["judge_lm"]["model"]) == ("scripted/two", "scripted/three")
    assert "rubrics met" in result.stdout and "of a judge" in result.stdout
    alone = invoke(tmp_path / "other", *words[:2], data="vita:delivery")
    assert alone.exit_code == 2 and "name it with --user-lm" in alone.stderr and not (tmp_path / "other").exists()
    invoke(tmp_path / "judged", *words[:4], data="vita:delivery")
    config = json.loads((tmp_path / "judged/config.json").read_text(encoding="utf-8"))["config"]
    assert config["judge_lm"] == config["user_lm"]


def test_a_dry_run_calls_and_writes_nothing(tmp_path: Path, engine: ScriptedEngine) -> None:
    result = invoke(tmp_path / "run", "--program", "gold", "--trials", "4", "--dry-run", "--max-steps", "9")
    assert result.exit_code == 0 and engine.calls == 0 and not (tmp_path / "run").exists()
    assert "8 instances x 1 programs = 8 items, 0 of them done" in result.stdout
    assert "4 a task, each up to 9 steps" in result.stdout


def test_steps_can_be_limited(tmp_path: Path, engine: ScriptedEngine) -> None:
    assert invoke(tmp_path / "run", "--program", "gold", "--max-steps", "1").exit_code == 0
    items = read_lines(tmp_path / "run/items.jsonl")
    assert {(one["termination"], one["status"], one["figures"]["steps"]) for one in items} == {
        ("max_steps", "wrong", 1)
    }


@pytest.mark.parametrize(
    ("words", "data", "line"),
    [
        (["--split", "validation"], "builtin", "episodes has no split 'validation': give --split train or dev or test"),
        (["--split", "test"], "userbench:22", "userbench:22 has no splits"),
        (["--query", "cg"], "builtin", "--query is for MPT, and --data builtin is for episodes"),
        ([], "builtin:nothing", "no split or group 'nothing'"),
        (["--program", "prefine"], "builtin", "prefine answers MPT, not episodes"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, engine: ScriptedEngine, words: list[str], data: str, line: str) -> None:
    result = invoke(tmp_path / "run", "--program", "gold", *words, data=data)
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and line in result.stderr
    assert result.stderr.count("\n") == 1 and not (tmp_path / "run").exists()


def test_lms_without_a_part_are_named(tmp_path: Path, engine: ScriptedEngine) -> None:
    result = invoke(tmp_path / "run", "--program", "gold", "--user-lm", "two", "--trials", "2", "--dry-run")
    assert result.exit_code == 0
    assert "note: --user-lm is not used" in result.stderr and "all trials of a task are the same" in result.stderr


def test_trials_are_for_episodes(tmp_path: Path, engine: ScriptedEngine) -> None:
    result = invoke(tmp_path / "run", "--program", "full_history", "--trials", "2", data="mini")
    assert result.exit_code == 2 and "--trials is for episodes" in result.stderr and "--data builtin" in result.stderr


def test_tasks_are_chosen_from_all_groups_in_turn() -> None:
    tasks = load_environment("builtin").tasks
    chosen = [episodes.choose(tasks, limit, 3) for limit in (7, 12)]
    assert {one.group for one in chosen[0]} == {one.group for one in tasks}
    assert {one.id for one in chosen[0]} < {one.id for one in chosen[1]}
    assert [one for one in tasks if one in chosen[1]] == chosen[1]
    assert episodes.choose(tasks, 7, 4) != chosen[0] and episodes.choose(tasks, None, 0) == list(tasks)
