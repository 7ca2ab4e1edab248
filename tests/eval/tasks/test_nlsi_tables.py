"""The numbers of NLSI, on items whose numbers are known."""

from __future__ import annotations

from typing import Any

import pytest

from eval.tasks.nlsi_errors import error_changes
from eval.tasks.nlsi_markdown import brief_text, report_text
from eval.tasks.nlsi_oracle import Oracle, Row, coverage_curve, of_two_answers
from eval.tasks.nlsi_tables import baselines, correlations, score_rows, summarise, tagger

USAGE = {
    "lm_calls": 1,
    "cached_calls": 0,
    "failed_calls": 0,
    "unreported_calls": 0,
    "input_tokens": 100,
    "output_tokens": 5,
    "cache_read_tokens": 50,
    "lm_seconds": 2.0,
    "cost": None,
}


def scores(f1: float, em: float | None = None) -> dict[str, dict[str, float]]:
    exact = float(f1 == 1) if em is None else em
    figures = {"em": exact, "em_length_checked": exact, "f1": f1, "precision": f1, "recall": f1}
    return {"strict": figures, "reference": figures}


def item(program: str = "interpret", id: str = "1", f1: float = 1.0, **changes: Any) -> dict[str, Any]:
    base = {
        "program": program,
        "id": id,
        "system": program.partition("@")[0].partition(":")[0].partition(" (")[0],
        "reasoning_type": "Plain",
        "dialogue_id": "",
        "status": "ok" if f1 == 1 else "wrong",
        "scores": scores(f1),
        "error_kinds": {} if f1 == 1 else {"missing_argument": 1},
        "selected": None,
        "selection": None,
        "instructions": 1,
        "tagged": None,
        "tagger_calls": None,
        "uncertainty": None,
        "first_scores": None,
        "usage": USAGE,
        "seconds": 3.0,
    }
    return {**base, **changes}


def test_the_oracle_takes_tags_only_where_they_are_strictly_better_and_all_metrics_follow() -> None:
    better = Row("Plain", "d", scores(0.5), scores(0.8, em=0))
    same = Row("Plain", "d", scores(0.5, em=1), scores(0.5, em=0))
    worse = Row("Plain", "d", scores(0.5), scores(0.2))
    assert [Oracle.choose(row, "strict").augmented for row in (better, same, worse)] == [True, False, False]
    assert Oracle.choose(same, "strict").scores["em"] == 1
    assert Oracle.choose(better, "strict").scores["f1"] == 0.8


def test_the_oracle_needs_both_programs_on_the_same_instances() -> None:
    items = [item(id="1", f1=0.5), item(id="2"), item("ext_tag", id="1"), item("ext_tag", id="3")]
    oracle = summarise(items)["oracles"]["TAPS-Oracle: interpret / ext_tag"]
    assert oracle["scores"]["strict"]["F1"]["n"] == 1 and oracle["augmented"]["strict"]["value"] == 100
    assert summarise(items[:2])["oracles"] == {}


def test_a_program_with_two_answers_has_an_oracle_of_its_own() -> None:
    items = [item("taps", f1=0.2, first_scores=scores(0.6)), item("taps", id="2")]
    oracle = of_two_answers("taps", items)
    assert oracle is not None and len(oracle.rows) == 1
    assert oracle.choose(oracle.rows[0], "strict").scores["f1"] == 0.6
    assert of_two_answers("interpret", [item()]) is None


def test_compiled_programs_are_compared_with_the_plain_one_of_their_run() -> None:
    scored = {
        label: [item(label)]
        for label in (
            "interpret",
            "interpret@optimized/i",
            "taps",
            "ext_tag:tags=gold.csv",
            "interpret (b)",
            "taps (b)",
        )
    }
    assert baselines("taps", scored) == ["interpret", "ext_tag:tags=gold.csv"]
    assert baselines("interpret@optimized/i", scored) == ["interpret", "ext_tag:tags=gold.csv"]
    assert baselines("interpret", scored) == ["ext_tag:tags=gold.csv"]
    assert baselines("taps (b)", scored) == ["interpret (b)"]


def test_what_the_gate_spares_is_counted_over_instances_that_have_instructions() -> None:
    items = [
        item("taps", id="1", tagged=True, tagger_calls=3),
        item("taps", id="2", tagged=False, tagger_calls=0),
        item("taps", id="3", tagged=False, tagger_calls=0, instructions=0),
    ]
    found = tagger(items)
    assert found is not None
    assert found["tagged"]["value"] == pytest.approx(33.33)
    assert (found["saved"]["value"], found["saved"]["n"], found["calls"]) == (50, 2, 1)
    assert tagger([item()]) is None


def test_uncertainty_is_correlated_with_the_answer_it_belongs_to() -> None:
    def unsure(k: int) -> dict[str, Any]:
        return item(
            id=str(k), f1=1.0, first_scores=scores(1 - k / 10), uncertainty={"least_confidence": k / 10, "flat": 0.5}
        )

    found = correlations([unsure(k) for k in range(10)], "strict")
    assert found["least_confidence"] is not None and found["least_confidence"]["value"] == -1
    assert found["flat"] is None


def test_the_most_certain_come_first() -> None:
    items = [item(id=str(k), f1=float(k < 5), uncertainty={"a": 0.0, "least_confidence": k / 10}) for k in range(10)]
    points = coverage_curve(items, "strict")
    assert [point["F1"] for point in points][:6] == [100, 100, 100, 100, 100, pytest.approx(83.33)]
    assert points[-1] == {
        "coverage": 1.0,
        "n": 10,
        "F1": 50.0,
        "EM": 50.0,
        "estimator": "least_confidence",
        "threshold": 0.9,
    }
    assert coverage_curve([item()], "strict") == []


def test_changes_of_errors_are_relative_and_over_the_same_instances() -> None:
    def wrong(id: str, *kinds: str) -> dict[str, Any]:
        return item(id=id, f1=0.5, error_kinds=dict.fromkeys(kinds, 1))

    before = [wrong("1", "hallucinated_argument"), wrong("2", "hallucinated_function"), wrong("3", "value_format")]
    after = [wrong("1", "hallucinated_argument", "hallucinated_function"), item(id="2"), wrong("9", "value_format")]
    found = error_changes(after, before)
    assert found["hallucination"] == -0.5
    assert found["value formatting"] is None and found["missing"] is None


def test_selection_is_shown_and_needs_no_calls() -> None:
    half = {"em": 0.0, "precision": 1.0, "recall": 0.5, "f1": 0.667}
    only = item("select", scores=None, error_kinds=None, selected=["1"], selection=half)
    failed = item("select", id="2", scores=None, error_kinds=None, selection=dict.fromkeys(half, 0.0))
    summary = summarise([only, failed])
    assert summary["programs"]["select"]["selection"]["recall"] == {"value": 25.0, "low": 0.0, "high": 50.0, "n": 2}
    assert summary["programs"]["select"]["scores"]["strict"]["F1"] is None and summary["deltas"] == {}
    for text in (brief_text(summary), report_text(summary, ["strict", "reference"])):
        assert "Selected instructions" in text and "NLSI (strict" not in text
    assert score_rows(summary)[1] == []


def test_an_empty_run_has_a_summary() -> None:
    summary = summarise([])
    assert (summary["items"], summary["failed_share"], summary["programs"]) == (0, 0, {})
    assert report_text(summary, ["strict"])
