"""What is written down of one answer, however odd the program."""

from __future__ import annotations

import json
from typing import Any

import dspy
import pytest
from scripted_nlsi import nlsi_record

from eval.data.nlsi_catalogue import nlsi_catalogue
from eval.data.nlsi_record import read_record
from eval.failures import Failure
from eval.tasks.nlsi_record import record_of
from prefine_dspy.types import ToolCall

INSTANCE = read_record("made:1", nlsi_record(0))
RIGHT = ToolCall.of("GetMusic", artist="Nina Simone", genre="Jazz")
WRONG = ToolCall.of("GetMusic", artist="Nina Simone", genre="Rock")


def record(system: str = "interpret", failure: Failure | None = None, **prediction: Any) -> dict[str, Any]:
    answer = None if failure else dspy.Prediction(**prediction)
    return record_of(system, INSTANCE, nlsi_catalogue(), answer, failure)


@pytest.mark.parametrize(
    ("prediction", "status", "f1"),
    [
        ({"calls": [RIGHT]}, "ok", 1.0),
        ({"calls": [WRONG]}, "wrong", 0.5),
        ({"calls": [RIGHT, RIGHT]}, "wrong", pytest.approx(2 / 3)),
        ({"calls": []}, "abstained", 0.0),
        ({"calls": [], "parse_failed": True}, "parse_error", 0.0),
        ({}, "abstained", 0.0),
    ],
)
def test_statuses(prediction: dict[str, Any], status: str, f1: float) -> None:
    found = record(**prediction)
    assert (found["status"], found["scores"]["strict"]["f1"]) == (status, f1)


def test_doubled_calls_are_exact_only_for_the_reference_scorer() -> None:
    found = record(calls=[RIGHT, RIGHT])["scores"]
    assert (found["reference"]["em"], found["reference"]["em_length_checked"], found["strict"]["em"]) == (1, 0, 0)


def test_a_failure_is_an_answer_without_calls() -> None:
    found = record(failure=Failure("lm_error", "ServerError", "down", True))
    assert found["status"] == "lm_error" and found["calls"] == [] and found["raw"] == ""
    assert {figure for scorer in found["scores"].values() for figure in scorer.values()} == {0}
    assert found["selection"] is None or set(found["selection"].values()) == {0}


def test_selected_instructions_are_scored_by_id() -> None:
    found = record("select_then_interpret", calls=[RIGHT], selected=["0"])
    assert found["selection"] == {"em": 1.0, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert record(calls=[RIGHT])["selection"] is None


def test_a_program_that_only_selects_has_no_scores_of_calls() -> None:
    right, missed = record("select", calls=[], selected=["0"]), record("select", calls=[], selected=["7"])
    assert (right["status"], missed["status"]) == ("ok", "wrong")
    assert right["scores"] is None and right["error_kinds"] is None
    failed = record("select", failure=Failure("parse_error", "AdapterParseError", "no JSON", False))
    assert failed["scores"] is None and failed["selection"]["f1"] == 0


def test_the_first_answer_is_scored_as_well() -> None:
    found = record("taps", calls=[RIGHT], first_calls=[WRONG], tagged=True, tagger_calls=1)
    assert found["first_calls"] == [{"name": "GetMusic", "arguments": {"artist": "Nina Simone", "genre": "Rock"}}]
    assert found["first_scores"]["strict"]["f1"] == 0.5 and found["scores"]["strict"]["f1"] == 1
    assert found["instructions"] == 1
    assert record(calls=[RIGHT])["first_scores"] is None


def test_odd_values_of_a_program_are_left_out() -> None:
    found = record(
        calls=[RIGHT, "GetMusic()", None],
        raw=None,
        problems=["x"],
        selected="0",
        tags=[1, None],
        tagged=1,
        tagger_calls="two",
        uncertainty={"least_confidence": float("nan"), "margin": "high", "other": 1},
        first_calls=[None],
    )
    assert found["status"] == "ok" and len(found["calls"]) == 1
    assert (found["selected"], found["tags"], found["tagged"], found["tagger_calls"]) == (
        None,
        ["1", "None"],
        True,
        None,
    )
    assert found["uncertainty"] == {"other": 1.0} and found["first_calls"] == []
    assert "NaN" not in json.dumps(found)
