"""The command on the NLSI programs, end to end, on mini_nlsi and a scripted LM."""

from __future__ import annotations

import json
import shutil

import dspy
import pytest
from typer.testing import CliRunner

from eval.compiling.nlsi_source import load_source
from eval.data.nlsi import MINI_NLSI, load_nlsi
from prefine_dspy.artifact import load_program
from programs import load_system
from programs.compile import app
from tests.programs.nlsi_lm import KnowingNlsi

SMALL = ["--dev-instances", "12", "--test-instances", "6", "--bootstrap-instances", "6"]
KEY = "sk-canary-4711"


@pytest.fixture
def knowing(monkeypatch):
    made = KnowingNlsi()
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: made.lm)
    return made


def compile_(tmp_path, program, *words, optimizer="labeled", expect=0):
    arguments = ["--program", program, "--optimizer", optimizer, "--lm", "scripted", *SMALL]
    arguments += ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work"), *words]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == expect, result.output + str(result.exception)
    return result


def written(tmp_path, name):
    return json.loads((tmp_path / "out" / name).read_text(encoding="utf-8"))


PREDICTORS = {
    "interpret": ["interpreter.interpret"],
    "ext_tag": ["interpreter.interpret", "tagger.tag"],
    "joint_tag": ["interpret"],
    "taps": ["default.interpreter.interpret", "ext_tag.interpreter.interpret", "ext_tag.tagger.tag"],
    "select": ["select"],
    "select_then_interpret": ["default.interpreter.interpret", "selector.select"],
}


@pytest.mark.parametrize("program", PREDICTORS)
def test_labelled_demonstrations_reach_every_predictor(tmp_path, knowing, program):
    compile_(tmp_path, program)
    state = written(tmp_path, "program.json")
    assert sorted(state) == PREDICTORS[program]
    assert all(len(predictor["demos"]) == 5 for predictor in state.values())
    manifest = written(tmp_path, "manifest.json")
    scores = manifest["scores"]["test"]
    assert scores["after"]["em"]["n"] == 6
    assert set(scores["after"]) == {"em", "f1", "precision", "recall"}
    if program != "select":
        assert scores["before"]["em"]["value"] == 0.0 < scores["after"]["em"]["value"]
    assert manifest["cost"]["lm_calls"] == len(knowing.requests)
    assert manifest["data"]["name"] == "mini_nlsi" and manifest["data"]["licence"] == "Apache-2.0"
    system = load_system(str(tmp_path / "out"))
    assert system.name == program
    assert all(predictor.demos for _, predictor in system.program.named_predictors())


@pytest.mark.parametrize("optimizer", ["bootstrap", "bootstrap-rs", "bootstrap-optuna", "mipro", "gepa", "simba"])
def test_every_optimizer_runs(tmp_path, knowing, optimizer):
    few = ["--candidates", "2", "--trials", "2", "--steps", "1", "--dev-instances", "6"]
    compile_(tmp_path, "ext_tag", *few, "--part", "interpreter", optimizer=optimizer)
    assert written(tmp_path, "manifest.json")["scores"]["dev"]["after"]["em"]["value"] > 0.5
    assert not any(" at 0x" in prompt for prompt in knowing.prompts), "a prompt with an address cannot be resumed"
    state = (tmp_path / "out" / "program.json").read_text(encoding="utf-8")
    assert "logprob" not in state and '"kind"' not in state


def test_bootstrapped_steps_keep_their_fields_only(tmp_path, knowing):
    compile_(tmp_path, "interpret", optimizer="bootstrap")
    (predictor,) = written(tmp_path, "program.json").values()
    steps = [demo for demo in predictor["demos"] if demo.get("augmented")]
    assert steps
    assert all(set(demo) == {"augmented", "standing", "query", "calls"} for demo in steps)


def test_the_gate_is_chosen_on_dev_and_kept(tmp_path, knowing):
    result = compile_(tmp_path, "taps")
    manifest = written(tmp_path, "manifest.json")
    options = manifest["program"]["options"]
    assert options["estimator"] == "least_confidence"
    # the scripted LM is unsure (0.4) exactly where it is wrong without tags
    assert 0.01 < options["threshold"] < 0.4
    row = manifest["optimizer"]["arguments"]["gate"]["least_confidence"]
    assert row["pearson_f1"] < -0.9
    assert 0 < row["tagged"] < 0.6
    assert "least_confidence" in result.stdout and "never tagged" in result.stdout
    program = load_program(tmp_path / "out").program
    assert program.gate.threshold == options["threshold"]
    assert load_system(f"taps@{tmp_path / 'out'}").program.gate.threshold == options["threshold"]


def test_a_loaded_program_answers(tmp_path, knowing):
    compile_(tmp_path, "taps")
    program = load_program(tmp_path / "out").program
    data = load_nlsi("mini_nlsi", "test")
    hard = next(one for one in data.instances if one.reasoning_type == "MultiHop")
    easy = next(one for one in data.instances if one.reasoning_type == "Plain")
    with dspy.context(lm=knowing.lm):
        unsure, sure = (program(request=one.request, tools=data.tools) for one in (hard, easy))
    assert unsure.tagged and not sure.tagged
    assert unsure.calls == hard.gold_calls() and sure.calls == easy.gold_calls()


def test_tags_from_a_file_meet_a_compiled_program(tmp_path, knowing):
    compile_(tmp_path, "taps")
    system = load_system(f"taps@{tmp_path / 'out'}", tags=str(MINI_NLSI / "tags.csv"), threshold=0.0)
    assert system.program.ext_tag.interpreter.interpret.demos
    data = load_nlsi("mini_nlsi", "test")
    instance = next(one for one in data.instances if one.request.applicable)
    with dspy.context(lm=knowing.lm):
        answer = system.answer(instance.request, data.tools)
    assert answer.tagged and answer.tagger_calls == 0


def test_without_log_probabilities_the_gate_samples(tmp_path, knowing, monkeypatch):
    knowing.supported_params = knowing.supported_params - {"logprobs", "top_logprobs"}
    few = ["--dev-instances", "4", "--test-instances", "1"]
    compile_(tmp_path, "taps", *few)
    assert written(tmp_path, "manifest.json")["program"]["options"]["estimator"] == "disagreement"


def test_options_reach_the_program_and_its_manifest(tmp_path, knowing):
    compile_(tmp_path, "taps:estimator=margin_at_t,threshold=0.25", "--part", "default")
    assert written(tmp_path, "manifest.json")["program"]["options"] == {"estimator": "margin_at_t", "threshold": 0.25}
    assert load_program(tmp_path / "out").program.gate.threshold == 0.25


def test_one_part_after_the_other(tmp_path, knowing):
    compile_(tmp_path / "a", "taps", "--part", "tagged")
    state = written(tmp_path / "a", "program.json")
    assert state["ext_tag.interpreter.interpret"]["demos"] and not state["default.interpreter.interpret"]["demos"]
    compile_(tmp_path / "b", "taps", "--part", "gate", "--start", str(tmp_path / "a" / "out"))
    state = written(tmp_path / "b", "program.json")
    assert state["ext_tag.interpreter.interpret"]["demos"] and not state["default.interpreter.interpret"]["demos"]
    assert written(tmp_path / "b", "manifest.json")["optimizer"]["started_from"] == "out"


def test_another_lm_tags(tmp_path, knowing, monkeypatch):
    tagger = KnowingNlsi()
    lms = {"tagger": tagger, "scripted": knowing}

    def resolved(name, **options):
        lm = lms[name].lm
        return lm.copy(model=f"scripted/{name}")

    monkeypatch.setattr("prefine_dspy.lm.resolve", resolved)
    compile_(tmp_path, "ext_tag", "--tagger-lm", "tagger")
    assert tagger.requests and all("tags" in tagger._fields(request) for request in tagger.requests)
    assert not any("tags" in knowing._fields(request) for request in knowing.requests)
    assert written(tmp_path, "manifest.json")["lms"]["tagger_lm"]["model"] == "scripted/tagger"


def test_no_key_is_written(tmp_path, knowing, monkeypatch):
    def resolved(name, **options):
        lm = knowing.lm
        lm.kwargs["user"] = KEY  # of a demonstrating LM's settings none but the known ones may be kept
        return lm

    monkeypatch.setattr("prefine_dspy.lm.resolve", resolved)
    compile_(tmp_path, "taps", optimizer="bootstrap")
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file


def test_nothing_of_validation_and_test_is_demonstrated(tmp_path, knowing):
    compile_(tmp_path, "ext_tag", "--demos", "40", optimizer="bootstrap")
    state = (tmp_path / "out" / "program.json").read_text(encoding="utf-8")
    train = {one.dialogue_id for one in load_nlsi("mini_nlsi", "train").instances}
    for split in ("validation", "test"):
        for instance in load_nlsi("mini_nlsi", split).instances:
            assert instance.dialogue_id not in train
            assert json.dumps(instance.request.query.turns[0].text, ensure_ascii=False)[1:-1] not in state


def test_the_dry_run_calls_nothing(tmp_path, knowing):
    result = compile_(tmp_path, "taps", "--dry-run", optimizer="bootstrap-rs")
    for line in ("default: bootstrap-rs", "tagger: bootstrap-rs", "gate: dev with", "in all"):
        assert line in result.stdout
    assert not knowing.requests
    assert not (tmp_path / "out").exists() and not (tmp_path / "work").exists()


def test_the_budget_is_kept_and_the_best_so_far_written(tmp_path, knowing):
    result = compile_(tmp_path, "interpret", "--max-calls", "40", optimizer="bootstrap-rs", expect=3)
    assert len(knowing.requests) <= 40
    assert "--max-calls" in result.stderr
    manifest = written(tmp_path, "manifest.json")
    assert manifest["stopped"] and manifest["scores"]["test"]["after"]
    compile_(tmp_path, "interpret", "--max-calls", "500", "--resume", optimizer="bootstrap-rs")
    assert not written(tmp_path, "manifest.json")["stopped"]


def test_a_budget_that_covers_nothing_is_said_at_once(tmp_path, knowing):
    result = compile_(tmp_path, "interpret", "--max-calls", "5", optimizer="bootstrap-rs", expect=2)
    assert "lower --dev-instances" in result.stderr
    assert not knowing.requests


def test_a_killed_compilation_ends_like_an_undisturbed_one(tmp_path, knowing, monkeypatch):
    compile_(tmp_path, "taps", "--candidates", "2", optimizer="bootstrap-rs")
    undisturbed, calls = written(tmp_path, "program.json"), len(knowing.requests)
    again = KnowingNlsi()
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: again.lm)

    def dies(request):
        if len(again.requests) == calls // 2:
            raise KeyboardInterrupt
        return again.answer(request)

    again._answer = dies
    other = tmp_path / "second"
    compile_(other, "taps", "--candidates", "2", optimizer="bootstrap-rs", expect=130)
    again._answer = again.answer
    compile_(other, "taps", "--candidates", "2", "--resume", optimizer="bootstrap-rs")
    assert written(other, "program.json") == undisturbed
    assert len(again.requests) == calls + 1  # the call in which it died


def test_other_gold_tags_are_another_compilation(tmp_path, knowing):
    compile_(tmp_path, "ext_tag", "--part", "interpreter")
    tags = tmp_path / "tags.csv"
    lines = (MINI_NLSI / "tags.csv").read_text(encoding="utf-8").splitlines()
    tags.write_text("\n".join(lines[:20]) + "\n", encoding="utf-8")
    result = compile_(tmp_path, "ext_tag", "--part", "interpreter", "--tags", str(tags), "--resume", expect=2)
    assert "gold_tags" in result.stderr


def test_own_logs_need_consent(tmp_path, knowing):
    own = tmp_path / "logs"
    shutil.copytree(MINI_NLSI, own)
    (own / "manifest.json").unlink()
    assert "--allow-user-text" in compile_(tmp_path, "interpret", "--data", str(own), expect=2).stderr
    compile_(tmp_path, "interpret", "--data", str(own), "--allow-user-text")
    assert "licence" not in written(tmp_path, "manifest.json")["data"]


@pytest.mark.parametrize(
    "words, said",
    [
        (["--program", "one_shot"], "compile interpret"),
        (["--program", "select:by=bm25"], "nothing to compile"),
        (["--program", "interpret", "--part", "tagger"], "--part interpreter"),
        (["--program", "interpret", "--tagger-lm", "scripted"], "has no tagger"),
        (["--program", "ext_tag:tagger_lm=x"], "--tagger-lm"),
        (["--program", "interpret", "--dev-histories", "3"], "--dev-instances"),
        (["--program", "interpret", "--tags", "nowhere.csv"], "nowhere.csv"),
        (["--program", "interpret", "--data", "nowhere"], "no data"),
    ],
)
def test_bad_input_is_one_line(tmp_path, knowing, words, said):
    result = compile_(tmp_path, "interpret", *words, expect=2)
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert not knowing.requests


def test_instances_are_no_size_of_mpt(tmp_path, knowing):
    arguments = ["--program", "full_history", "--optimizer", "labeled", "--lm", "s", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--dev-instances", "3"])
    assert result.exit_code == 2 and "--dev-histories" in result.stderr


def test_a_flag_as_python_writes_it_is_kept_as_one(tmp_path, knowing):
    few = ["--dev-instances", "0", "--test-instances", "0"]
    compile_(tmp_path, "interpret:linked=False", *few)
    assert written(tmp_path, "manifest.json")["program"]["options"] == {"linked": False}


def test_a_table_of_another_content_is_another_compilation(tmp_path, knowing):
    tags = tmp_path / "table.csv"
    lines = (MINI_NLSI / "tags.csv").read_text(encoding="utf-8").splitlines()
    few = ["--part", "interpreter", "--dev-instances", "0", "--test-instances", "0"]
    tags.write_text("\n".join(lines) + "\n", encoding="utf-8")
    compile_(tmp_path, f"ext_tag:tags={tags}", *few)
    tags.write_text("\n".join(lines[:20]) + "\n", encoding="utf-8")
    assert "table" in compile_(tmp_path, f"ext_tag:tags={tags}", *few, "--resume", expect=2).stderr


def test_a_tagger_alone_is_compiled_on_instructions_and_begins_another_program(tmp_path, knowing):
    few = ["--dev-instances", "6", "--test-instances", "6"]
    result = compile_(tmp_path / "a", "tagger", *few)
    assert "instructions" in result.stderr
    scores, folder = written(tmp_path / "a", "manifest.json")["scores"], str(tmp_path / "a" / "out")
    assert list(scores) == ["dev"], "no gold tags of test are published"
    dev = len(load_source("mini_nlsi", 6, 6, seed=42).splits["dev"].tags)
    assert scores["dev"]["after"]["f1"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": dev, "p": None}
    assert all("tags" in knowing._fields(request) for request in knowing.requests)
    demos = written(tmp_path / "a", "program.json")["tag"]["demos"]
    assert len(demos) == 5 and load_program(folder).program.tag.demos
    assert load_system(folder).program.tag.demos
    none = ["--dev-instances", "0", "--test-instances", "0"]
    compile_(tmp_path / "b", "ext_tag", "--part", "interpreter", "--start", folder, *none)
    state = written(tmp_path / "b", "program.json")
    assert state["tagger.tag"]["demos"] == demos and state["interpreter.interpret"]["demos"]
    assert written(tmp_path / "b", "manifest.json")["optimizer"]["started_from"] == "out"
    for program, said in (("interpret", "has none"), ("tagger", "--part tagger")):
        words = ["--part", "interpreter", "--start", folder, *none]
        assert said in compile_(tmp_path / "c", program, *words, expect=2).stderr


def test_a_tagger_without_gold_tags_says_so(tmp_path, knowing):
    bare = tmp_path / "data"
    shutil.copytree(MINI_NLSI, bare, ignore=shutil.ignore_patterns("tags.csv"))
    assert "--tags FILE.csv" in compile_(tmp_path, "tagger", "--data", str(bare), "--allow-user-text", expect=2).stderr


def test_chosen_demonstrations_are_options_of_the_program(tmp_path, knowing):
    pytest.importorskip("bm25s")
    few = ["--demos", "8", "--dev-instances", "0", "--test-instances", "0"]
    compile_(tmp_path, "interpret:nearest=2,fixed=3", *few)
    assert written(tmp_path, "manifest.json")["program"]["options"] == {"nearest": 2, "fixed": 3}
    compile_(tmp_path / "t", "tagger:nearest=2,fixed=1", *few)
    compile_(tmp_path / "e", "ext_tag", "--part", "interpreter", "--start", str(tmp_path / "t" / "out"), *few)
    assert written(tmp_path / "e", "manifest.json")["program"]["options"] == {"tag_nearest": 2, "tag_fixed": 1}
    assert load_program(tmp_path / "e" / "out").program.tagger.nearest.k == 2
    assert load_program(tmp_path / "out").program.interpreter.nearest.k == 2
    assert load_system(str(tmp_path / "out"), nearest=1).program.interpreter.nearest.k == 1
