"""The command on agents, end to end, on the built-in airline and an LM that knows its tasks."""

from __future__ import annotations

import json

import pytest
from desk_lm import KnowingDesk, demonstrated
from typer.testing import CliRunner

from programs import load_system
from programs.compile import app

SMALL = ["--dev-instances", "2", "--test-instances", "2", "--bootstrap-instances", "3", "--candidates", "2"]


@pytest.fixture
def desk(monkeypatch):
    """Right on train, and elsewhere as soon as it has seen how."""
    from scripted_lm import lm_of

    script = KnowingDesk(lambda task, request: task.split == "train" or demonstrated(request))
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: lm_of(script))
    return script


def compile_(tmp_path, program, *words, optimizer="bootstrap", expect=0):
    arguments = ["--program", program, "--optimizer", optimizer, "--lm", "scripted", *SMALL]
    arguments += ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work"), *words]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == expect, result.output + str(result.exception)
    return result


@pytest.mark.parametrize("program", ["react", "idss"])
def test_steps_of_successful_episodes_become_demonstrations(tmp_path, desk, program):
    result = compile_(tmp_path, program, "--data", "builtin")
    state = json.loads((tmp_path / "out" / "program.json").read_text(encoding="utf-8"))
    (predictor,) = state.values()
    assert len(predictor["demos"]) == 3
    fields = set(load_system(program).program.act.signature.fields)
    assert all(set(demo) == {"augmented", *fields} for demo in predictor["demos"])
    assert "Kestrel" not in json.dumps(predictor["signature"]), "the policy is no part of what is saved"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    scores = manifest["scores"]["test"]
    assert (scores["before"]["reward"]["value"], scores["after"]["reward"]["value"]) == (0.0, 1.0)
    assert manifest["data"]["licence"] == "Apache-2.0" and manifest["data"]["splits"]["dev"]["queries"] == 2
    assert manifest["cost"]["lm_calls"] == len(desk.requests)
    assert "REWARD" in result.stdout
    system = load_system(str(tmp_path / "out"))
    assert system.name == program and system.program.act.demos


@pytest.mark.parametrize("optimizer", ["bootstrap-rs", "bootstrap-optuna", "gepa", "simba", "mipro"])
def test_every_optimizer_runs(tmp_path, desk, optimizer):
    compile_(tmp_path, "react", "--trials", "2", "--steps", "1", "--max-steps", "6", optimizer=optimizer)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["optimizer"]["arguments"]["max_steps"] == 6
    assert manifest["scores"]["dev"]["after"]["reward"]["n"] == 2
    if optimizer.startswith("bootstrap"):
        assert manifest["scores"]["dev"]["after"]["reward"]["value"] == 1.0


def test_a_compilation_goes_on_where_it_was(tmp_path, desk):
    compile_(tmp_path, "react")
    asked = len(desk.requests)
    compile_(tmp_path, "react", "--resume")
    assert len(desk.requests) == asked


def test_options_and_a_compiled_start(tmp_path, desk):
    compile_(tmp_path, "idss:preferences=False,budget=500")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["program"]["options"] == {"preferences": False, "budget": 500}
    again = ["--start", str(tmp_path / "out"), "--out", str(tmp_path / "again"), "--work", str(tmp_path / "work2")]
    compile_(tmp_path, "idss", *again)
    program = load_system(str(tmp_path / "again")).program
    assert (program.preferences, program.budget) == (False, 500) and program.act.demos


def test_what_would_be_asked_is_said_before(tmp_path, desk):
    result = compile_(tmp_path, "react", "--dry-run")
    assert not desk.requests
    assert "builtin: train 3 tasks, dev 2 tasks, test 2 tasks" in result.stdout and "in all" in result.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--optimizer", "labeled"], "episodes have no labelled demonstrations: use --optimizer bootstrap"),
        (["--dev-histories", "2"], "episodes has no histories"),
        (["--data", "mini"], "mini"),
        (["--data", "userbench:22", "--user-lm", "u"], "has no splits"),
        (["--data", "tau:retail"], "name it with --user-lm"),
        (["--part", "caller"], "react has no part 'caller': use --part agent"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path, desk, words, says):
    result = compile_(tmp_path, "react", *words, expect=2)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error")]
    assert says in line and not desk.requests


def test_an_lm_that_never_succeeds_leaves_nothing_to_show(tmp_path, desk):
    desk.able = lambda task, request: False
    result = compile_(tmp_path, "react", expect=2)
    assert "no demonstration reached agent.act" in result.stderr
