"""NLSI as something to compile on."""

from __future__ import annotations

import json
import shutil

import dspy
import pytest

from eval.compiling.nlsi import NlsiTask
from eval.compiling.nlsi_scores import before_and_after, clusters, item_of, mean_figure
from eval.compiling.nlsi_source import is_public, load_source
from eval.data.nlsi import MINI_NLSI, load_nlsi
from prefine_dspy.taps import SAMPLES
from prefine_dspy.types import ToolCall
from programs import load_system
from programs.compilation.job import Settings
from tests.programs.nlsi_lm import KnowingNlsi


@pytest.fixture
def knowing():
    return KnowingNlsi()


def task_of(program, lm, **sizes):
    source = load_source("mini_nlsi", sizes.get("dev", 6), sizes.get("test", 6), seed=0)
    return NlsiTask(program, {}, source, lm, lm, None, Settings(), bootstrap_instances=12)


def test_splits_are_nlsis_own(knowing):
    source = load_source("mini_nlsi", 6, 12, seed=0)
    assert len(source.splits["train"].instances) == len(load_nlsi("mini_nlsi", "train").instances)
    assert len({one.reasoning_type for one in source.splits["dev"].instances}) == 6
    assert len(source.splits["test"].instances) == 12
    assert source.splits["dev"].tags and not source.splits["test"].tags
    train = set(source.splits["train"].instructions)
    assert set(source.splits["train"].tags) <= train


def test_dev_is_read_with_the_programs_own_tags_and_train_with_gold_ones(knowing):
    task = task_of("ext_tag", knowing.lm)
    program = load_system("ext_tag").program
    job = task.job("interpreter", program, "bootstrap-rs")
    asked = {request.messages[-1].text.partition("instruction: ")[2] for request in knowing.requests}
    assert asked == set(task.source.splits["dev"].instructions)
    assert all(example.tags or not example.request.applicable for example in (*job.train, *job.dev))


def test_without_a_search_nobody_is_asked(knowing):
    task = task_of("taps", knowing.lm)
    program = load_system("taps").program
    for part in ("default", "tagger", "tagged"):
        job = task.job(part, program, "labeled")
        assert not job.train and not job.dev and all(job.pools.values())
    assert not knowing.requests


def test_an_answer_that_cannot_be_read_does_not_stop_the_gate():
    knowing = KnowingNlsi(demonstrated=False)
    usual, garbled = knowing.answer, []

    def answer(request):
        given = usual(request)
        text = request.messages[-1].text or ""
        if "calls" in given and "tagged:" not in text and not garbled:
            garbled.append(text)
        return "I would rather not." if text in garbled else given

    knowing._answer = answer
    task = task_of("taps", knowing.lm)
    found = task.calibrate("gate", load_system("taps").program)
    assert len(garbled) == 1
    assert found.options["estimator"] != "disagreement", "nobody was asked for samples"
    assert found.program.gate.estimator == found.options["estimator"]


def test_samples_of_the_gate_are_counted_before_they_are_asked_for(knowing):
    task = task_of("taps", knowing.lm, dev=4, test=2)
    program = load_system("taps").program
    plain = {stage.name: stage.lm_calls for stage in task.stages(program, "labeled", ("gate",))}
    knowing.supported_params = knowing.supported_params - {"logprobs", "top_logprobs"}
    sampling = {stage.name: stage.lm_calls for stage in task.stages(program, "labeled", ("gate",))}
    more = {name: sampling[name] - plain[name] for name in plain if sampling[name] != plain[name]}
    assert more == {"gate: dev with and without tags": SAMPLES * 4, "score test, compiled": SAMPLES * 2}
    assert not knowing.requests
    found = task.calibrate("gate", program)
    assert found.options["estimator"] == "disagreement"
    # a first answer is asked for twice where no workspace keeps it
    assert len(knowing.requests) - 4 == sampling["gate: dev with and without tags"]


def test_demonstrations_chosen_for_each_request_are_no_prefix(knowing):
    sizes = []
    for options in ({}, {"nearest": 2, "fixed": 1}, {"nearest": 3}):
        task = task_of("interpret", knowing.lm)
        task.options = options
        (stage,) = [one for one in task.stages(load_system("interpret").program, "labeled", ()) if "dev, c" in one.name]
        sizes.append(stage.size)
    plain, near, all_near = sizes
    assert plain.prefix > near.prefix > all_near.prefix
    assert plain.fresh < near.fresh < all_near.fresh
    assert near.prefix + near.fresh < plain.prefix + plain.fresh


def test_dev_of_the_whole_task_is_what_the_selector_selects(knowing):
    task = task_of("select_then_interpret", knowing.lm)
    program = load_system("select_then_interpret").program
    job = task.job("interpreter", program, "bootstrap-rs")
    assert len(knowing.requests) == 6
    wanted = [{one.id for one in instance.request.applicable} for instance in task.source.splits["dev"].instances]
    assert [{one.id for one in example.request.applicable} for example in job.dev] == wanted


def test_public_data_only(tmp_path):
    assert is_public("mini_nlsi") and is_public("nlsi")
    own = tmp_path / "logs"
    shutil.copytree(MINI_NLSI, own)
    (own / "manifest.json").unlink()
    assert not is_public(str(own))
    for file in own.glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            for one in row["all_standing_instructions"]:
                one["instruction_src"] = None
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert not is_public(str(own)), "a layout proves nothing"


@pytest.mark.shared_data
def test_the_regenerated_data_is_public(shared_data):
    assert is_public(str(shared_data / "nlsi"))


def test_an_answer_that_failed_has_nothing_right():
    (instance, *_) = load_nlsi("mini_nlsi", "test").instances
    tools = load_nlsi("mini_nlsi", "test").tools
    right = dspy.Prediction(calls=instance.gold_calls(), parse_failed=False, selected=[])
    assert item_of(instance, right, tools, selects=False).em_length_checked == 1.0
    for failed in (None, dspy.Prediction(calls=[], parse_failed=True, selected=[])):
        assert item_of(instance, failed, tools, selects=False).f1 == 0.0
        assert item_of(instance, failed, tools, selects=True).f1 == 0.0
    doubled = dspy.Prediction(calls=[*instance.gold_calls(), ToolCall(name="GetMedia")], parse_failed=False)
    assert item_of(instance, doubled, tools, selects=False).em == 0.0, "length-checked"


def test_means_have_intervals_over_dialogues():
    alone = mean_figure([1, 1, 0, 0], ["a", "b", "c", "d"])
    assert (alone.value, alone.n, alone.p) == (0.5, 4, None)
    assert alone.low < 0.5 < alone.high
    together = mean_figure([1, 1, 0, 0], ["a", "a", "b", "b"])
    assert (together.low, together.high) == (0.0, 1.0)
    better = mean_figure([1, 1, 1, 1], ["a", "b", "c", "d"], paired=True)
    assert better.p == 0.0
    assert mean_figure([1, -1], ["a", "b"], paired=True).p == 1.0


def test_one_side_alone_has_no_difference():
    data = load_nlsi("mini_nlsi", "test")
    instances = data.instances[:3]
    items = [
        item_of(one, dspy.Prediction(calls=one.gold_calls(), parse_failed=False), data.tools, selects=False)
        for one in instances
    ]
    scores = before_and_after(items, None, clusters(instances))
    assert scores.before["em"].value == 1.0 and not scores.after and not scores.difference
