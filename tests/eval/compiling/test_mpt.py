"""MPT as something to compile on."""

from __future__ import annotations

from dataclasses import replace

import dspy
import pytest

from eval.compiling.mpt import MPTTask, is_public
from eval.data.labels.hypotheses import mapping_of
from eval.data.load import MINI, load_benchmark
from eval.data.splits import sources_of, split
from prefine_dspy.rendering import NOTHING
from prefine_dspy.types import Memory, Turn
from programs import load_system
from programs.compilation.job import Settings
from programs.compilation.optimizers import labeled
from tests.programs.made_lm import Knowing


@pytest.fixture(scope="module")
def task():
    benchmark = load_benchmark("mini")
    sizes = {"train": 4, "dev": 2, "test": 2}
    splits = split(benchmark, sources_of("mini", benchmark.histories), sizes, per_history=3)
    lm = Knowing().lm
    return MPTTask("prefine", {}, benchmark, splits, mapping_of("mini"), lm, lm, lm, Settings())


def test_the_proxy_agrees_with_the_annotation(task):
    task.builder_score = "proxy"
    try:
        metric, feedback = task._metrics("memory", None)
    finally:
        task.builder_score = "queries"
    history = next(h for h in task.benchmark.histories.values() if h.id == "merged-0016")  # Tobin Vasska, high_cost
    gold = dspy.Example(history=history)

    def score(text):
        return metric(gold, dspy.Prediction(memory=Memory(text=text)))

    right = score("The user prefers luxury, and films with Tobin Vasska.")
    assert right > score("The user prefers luxury.") > score("The user prefers to go alone.") > -0.1
    said = feedback(gold, dspy.Prediction(memory=Memory(text="The user goes alone."))).feedback
    assert "does not mention" in said and "choosing Tobin Vasska" in said
    assert "do not bear out: going alone" in said


def test_a_builder_is_judged_by_the_caller_that_will_read_it(task):
    program = load_system("prefine").program
    task.parts = ("memory", "caller")
    assert task._read_by(program).caller.call_tool.demos
    task.parts = ("memory",)
    assert not task._read_by(program).caller.call_tool.demos


def test_labelled_demonstrations_need_no_lm_call(task):
    program = load_system("prefine").program
    for part in ("memory", "caller"):
        job = task.job(part, program, "labeled")
        labeled(job)
        assert not job.train and not job.dev
        assert all(predictor.demos for _, predictor in job.best().part.named_predictors())


def test_demonstrations_come_from_train_alone(task):
    """Whatever the users of dev and test said or chose."""
    train = {history.id for history in task.splits["train"].histories}
    spoiled = {
        name: history if name in train else _spoiled(history) for name, history in task.benchmark.histories.items()
    }
    splits = {
        name: one if name == "train" else one._replace(histories=tuple(map(_spoiled, one.histories)))
        for name, one in task.splits.items()
    }
    other = replace(task, benchmark=task.benchmark._replace(histories=spoiled), splits=splits)
    for options in ({}, {"record": "full"}):
        program = load_system("prefine", **options).program
        for part in ("memory", "caller"):
            assert "CANARY" not in str(other.pools(part, program))
            assert str(other.pools(part, program)) == str(task.pools(part, program))


def _spoiled(history):
    turn = Turn(role="user", text="CANARY")
    sessions = tuple(session.model_copy(update={"turns": (turn,)}) for session in history.sessions)
    return history.model_copy(update={"sessions": sessions})


def test_public_data(tmp_path):
    assert is_public("mini") and is_public("mpt")
    assert not is_public(str(MINI / "histories.jsonl"))
    assert not is_public(str(tmp_path))
    (tmp_path / "manifest.json").write_text('{"rules": "paper", "inputs": {"sgd": "00"}}', encoding="utf-8")
    assert is_public(str(tmp_path))
    (tmp_path / "manifest.json").write_text("[", encoding="utf-8")
    assert not is_public(str(tmp_path))


def test_a_contrastive_caller_is_shown_queries_without_a_memory(task):
    """It reads the query alone; what it fills in comes from predictions."""
    program = load_system("predictive").program
    other = replace(task, program="predictive")
    demos = [one.demo for one in other.pools("caller", program)["caller.call_tool"]]
    assert demos and {demo.memory for demo in demos} == {NOTHING}
    assert len({str(demo.query) for demo in demos}) == len(demos)
    assert other.pools("memory", program)["memory.generate"]
    for part in ("memory", "caller"):
        labeled(job := other.job(part, program, "labeled"))
        assert all(predictor.demos for _, predictor in job.best().part.named_predictors())
