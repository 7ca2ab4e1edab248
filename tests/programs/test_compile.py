"""The command, end to end, on the mini data and a scripted LM."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from eval.data.load import load_benchmark
from prefine_dspy.artifact import load_program
from programs import load_system
from programs.compile import app
from tests.programs.made_lm import Knowing

SMALL = ["--train-histories", "6", "--dev-histories", "1", "--test-histories", "1", "--queries-per-history", "3"]
# no memory to build: for what is the same with any program
FAST = {"program": "full_history", "optimizer": "bootstrap-rs"}


@pytest.fixture
def knowing(monkeypatch):
    made = Knowing()
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: made.lm)
    return made


def compile_(tmp_path, *words, optimizer="labeled", program="prefine", expect=0):
    arguments = ["--program", program, "--optimizer", optimizer, "--lm", "scripted", *SMALL]
    arguments += ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work"), *words]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == expect, result.output + str(result.exception)
    return result


def state_of(tmp_path):
    return json.loads((tmp_path / "out" / "program.json").read_text(encoding="utf-8"))


def manifest_of(tmp_path):
    return json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))


def test_labelled_demonstrations_reach_all_four_predictors(tmp_path, knowing):
    compile_(tmp_path)
    state = state_of(tmp_path)
    assert sorted(state) == ["caller.call_tool", "memory.generate", "memory.refine", "memory.verify"]
    assert all(len(predictor["demos"]) == 4 for predictor in state.values())
    verdicts = [demo["error"] for demo in state["memory.verify"]["demos"]]
    assert verdicts.count("none") == 2
    assert len({demo["hypothesis"] for demo in state["memory.generate"]["demos"]}) > 2
    calls = [demo["call"]["arguments"] for demo in state["caller.call_tool"]["demos"]]
    assert any(set(arguments.values()) == {"unspecified"} for arguments in calls)


def test_scores_before_and_after_are_in_the_manifest(tmp_path, knowing):
    result = compile_(tmp_path)
    scores = manifest_of(tmp_path)["scores"]
    for split in ("dev", "test"):
        assert scores[split]["before"]["o_f1"]["value"] == 0.0
        assert scores[split]["after"]["o_f1"]["value"] > 0.3
        assert scores[split]["difference"]["o_f1"]["value"] == scores[split]["after"]["o_f1"]["value"]
        assert scores[split]["after"]["o_f1"]["n"] == 3
    assert "than the uncompiled program" in result.stdout
    assert manifest_of(tmp_path)["cost"]["lm_calls"] == len(knowing.script.requests)


@pytest.mark.parametrize("optimizer", ["bootstrap", "bootstrap-rs", "bootstrap-optuna"])
def test_bootstrapped_demonstrations_reach_all_four_predictors(tmp_path, knowing, optimizer):
    few = ["--candidates", "2", "--trials", "2", "--bootstrap-histories", "2", "--threshold", "0.2"]
    compile_(tmp_path, *few, optimizer=optimizer)
    state = state_of(tmp_path)
    assert all(predictor["demos"] for predictor in state.values()), {k: len(v["demos"]) for k, v in state.items()}


def test_what_is_bootstrapped_comes_from_runs_of_the_program(tmp_path, knowing):
    knowing.demonstrated = False
    compile_(tmp_path, "--threshold", "0.2", "--bootstrap-histories", "6", optimizer="bootstrap")
    for predictor in state_of(tmp_path).values():
        assert any(demo.get("augmented") for demo in predictor["demos"])
    verdicts = state_of(tmp_path)["memory.verify"]["demos"]
    assert {demo["error"] == "none" for demo in verdicts} == {True, False}


def test_full_history_demonstrations_are_short(tmp_path, knowing):
    compile_(tmp_path, program="full_history")
    (predictor,) = state_of(tmp_path).values()
    for demo in predictor["demos"]:
        assert 1 <= demo["memory"].count("[Session ") <= 3


def test_nothing_of_dev_and_test_reaches_the_program(tmp_path, knowing):
    compile_(tmp_path, **FAST)
    written = (tmp_path / "out" / "program.json").read_text(encoding="utf-8")
    splits = manifest_of(tmp_path)["data"]["splits"]
    assert {name: one["histories"] for name, one in splits.items()} == {"train": 6, "dev": 1, "test": 1}
    # invented names of the mini data tell its users apart
    benchmark = load_benchmark("mini")
    assert splits["dev"]["identity"] != splits["test"]["identity"]
    assert benchmark.identity == manifest_of(tmp_path)["data"]["identity"]
    assert "history_id" not in written


def test_the_dry_run_calls_nothing(tmp_path, knowing):
    result = compile_(tmp_path, "--dry-run", optimizer="bootstrap-rs")
    assert "LM calls" in result.stdout and "in all" in result.stdout
    assert not knowing.script.requests
    assert not (tmp_path / "out").exists() and not (tmp_path / "work").exists()


def test_the_budget_is_kept_and_the_best_so_far_written(tmp_path, knowing):
    result = compile_(tmp_path, "--max-calls", "17", **FAST, expect=3)
    assert len(knowing.script.requests) <= 17
    assert "--max-calls" in result.stderr
    manifest = manifest_of(tmp_path)
    assert manifest["stopped"]
    assert manifest["scores"]["test"]["after"]
    load_program(tmp_path / "out")
    spent = len(knowing.script.requests)
    compile_(tmp_path, "--resume", "--max-calls", "500", **FAST)
    assert not manifest_of(tmp_path)["stopped"]
    assert manifest_of(tmp_path)["cost"]["lm_calls"] == len(knowing.script.requests) > spent


def test_a_budget_that_covers_nothing_is_said_at_once(tmp_path, knowing):
    result = compile_(tmp_path, "--max-calls", "5", **FAST, expect=2)
    assert "does not cover the scores" in result.stderr
    assert not knowing.script.requests


def test_a_resumed_compilation_pays_for_nothing_twice(tmp_path, knowing):
    compile_(tmp_path, **FAST)
    first, state = len(knowing.script.requests), state_of(tmp_path)
    compile_(tmp_path, "--resume", **FAST)
    assert len(knowing.script.requests) == first
    assert state_of(tmp_path) == state


def test_a_killed_compilation_ends_like_an_undisturbed_one(tmp_path, knowing, monkeypatch):
    compile_(tmp_path, **FAST)
    undisturbed, calls = state_of(tmp_path), len(knowing.script.requests)
    again = Knowing()
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: again.lm)
    answer = again.answer

    def dies(request):
        if len(again.script.requests) == calls // 2:
            raise KeyboardInterrupt
        return answer(request)

    again.script._answer = dies
    other = tmp_path / "second"
    compile_(other, **FAST, expect=130)
    again.script._answer = answer
    compile_(other, "--resume", **FAST)
    assert state_of(other) == undisturbed
    assert len(again.script.requests) == calls + 1  # the call in which it died


def test_another_compilation_does_not_resume(tmp_path, knowing):
    compile_(tmp_path)
    assert "add --resume" in compile_(tmp_path, expect=2).stderr
    result = compile_(tmp_path, "--resume", "--seed", "1", expect=2)
    assert "seed: 0 -> 1" in result.stderr


def test_user_text_needs_consent(tmp_path, knowing):
    file = tmp_path / "own.json"
    file.write_text("[]", encoding="utf-8")
    result = compile_(tmp_path, "--data", str(file), expect=2)
    assert "--allow-user-text" in result.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--part", "memory", "--program", "full_history"], "no part"),
        (["--program", "nothing"], "no program is called"),
        (["--optimizer", "magic"], "no optimizer"),
        (["--train-histories", "40"], "27 histories"),
        (["--start", "nowhere/at-all"], "no compiled program"),
    ],
)
def test_bad_input_is_one_line(tmp_path, knowing, words, said):
    result = compile_(tmp_path, *words, expect=2)
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_one_part_alone_and_then_the_other(tmp_path, knowing):
    compile_(tmp_path / "a", "--part", "memory")
    state = state_of(tmp_path / "a")
    assert state["memory.refine"]["demos"] and not state["caller.call_tool"]["demos"]
    compile_(tmp_path / "b", "--part", "caller", "--start", str(tmp_path / "a" / "out"))
    state = state_of(tmp_path / "b")
    assert all(predictor["demos"] for predictor in state.values())
    assert manifest_of(tmp_path / "b")["optimizer"]["started_from"] == "out"


def test_a_compiled_program_is_a_system(tmp_path, knowing):
    compile_(tmp_path, program="prefine:K=2")
    folder = str(tmp_path / "out")
    for name in (folder, f"prefine@{folder}"):
        system = load_system(name)
        assert system.name == "prefine"
        assert system.program.memory.K == 2
        assert system.program.caller.call_tool.demos
    assert load_system(folder, K=1).program.memory.K == 1
