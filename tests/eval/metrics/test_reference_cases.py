"""Every open case of the published evaluator, and its aggregates."""

import json
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from eval.metrics.counts import pooled
from eval.metrics.reference import ReadField, score_item
from eval.metrics.statistics import figure

CASES = Path(__file__).parents[4] / "shared" / "data" / "mpt_metric_cases_open.json"
TODAY = datetime(2026, 6, 15, 12)
PARTS = ("overall", "pref", "nonpref")

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not CASES.exists(), reason="the case file is not beside the checkout"),
]


@pytest.fixture(scope="module")
def cases():
    dateparser = pytest.importorskip("dateparser")
    if dateparser.__version__.split(".")[:2] != ["1", "5"]:
        pytest.skip("the expected values are those of dateparser 1.5")
    with CASES.open(encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def scores(cases):
    slots = cases["meta"]["pref_list"]
    return {case["id"]: score_item(case["gold"], case["prediction"], slots, TODAY) for case in cases["cases"]}


def test_every_case(cases, scores):
    wrong = []
    for case in cases["cases"]:
        expected, score = case["expected"], scores[case["id"]].as_dict()
        same = all(
            [list(triple) for triple in ReadField.of(case[field], TODAY).triples] == expected[f"triples_{field}"]
            for field in ("gold", "prediction")
        )
        same &= all(score[part] == pytest.approx(expected[part], abs=1e-9) for part in PARTS)
        same &= (score["pref_exact_match"], score["parse_failed"]) == (
            expected["pref_exact_match"],
            expected["parse_failed"],
        )
        if not same:
            wrong.append(case["id"])
    assert not wrong
    assert len(scores) == 298


def test_every_case_under_other_clocks(cases):
    slots = cases["meta"]["pref_list"]
    checked = 0
    for case in cases["cases"]:
        for variant, expected in case["expected_variants"].items():
            if not variant.startswith("dateparser 1.5.0, clock "):
                continue
            today = datetime.fromisoformat(variant.rpartition(" ")[2])
            score = score_item(case["gold"], case["prediction"], slots, today).as_dict()
            assert {part: score[part] for part in PARTS} == {part: pytest.approx(expected[part]) for part in PARTS}
            checked += 1
    assert checked


def test_aggregates(cases, scores):
    expected = cases["aggregates"]
    _check_group(expected["all_cases_micro"], list(scores.values()))
    groups = defaultdict(list)
    for case in cases["cases"]:
        groups[case["synthetic_query"], case["synthetic_type"]].append(scores[case["id"]])
    for (query, kind), group in groups.items():
        _check_group(expected["by_query_and_type_micro"][query][kind], group)
    for query, mean in expected["avg_of_three_types_overall_f1"].items():
        chosen = [(kind, score) for (q, kind), group in groups.items() if q == query for score in group]
        counts, types = [score.overall for _, score in chosen], [kind for kind, _ in chosen]
        assert figure(counts, "type_mean", types) == pytest.approx(mean, abs=1e-9)
    per_query = [score.overall.f1 for score in scores.values()]
    assert sum(per_query) / len(per_query) == pytest.approx(expected["query_level_mean_overall_f1"], abs=1e-9)


def _check_group(expected, group):
    assert expected["n"] == len(group)
    for part in PARTS:
        assert pooled(getattr(score, part) for score in group).as_dict() == pytest.approx(expected[part], abs=1e-9)
    assert expected["pref_em"]["count"] == sum(score.pref_exact_match for score in group)
    assert expected["parsing_failures"] == sum(score.parse_failed for score in group)
