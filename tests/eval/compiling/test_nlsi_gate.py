"""Which estimator and threshold the gate gets."""

from __future__ import annotations

import pytest

from eval.compiling.nlsi_gate import Case, pearson, record, rows_of, table
from eval.metrics.nlsi_score import NlsiScore
from prefine_dspy.errors import InputError

RIGHT, HALF, WRONG = (NlsiScore(float(f1 == 1), float(f1 == 1), f1, f1, f1) for f1 in (1.0, 0.5, 0.0))


def case(telling, default, tagged, gated=True):
    """A case in which one estimator tells something and the other one does not."""
    return Case({"least_confidence": telling, "margin_at_t": 0.5}, default, tagged, gated)


CASES = [case(0.1, RIGHT, WRONG), case(0.2, RIGHT, HALF), case(0.6, WRONG, RIGHT), case(0.8, HALF, RIGHT)]


def test_the_estimator_that_tells_right_from_wrong_is_chosen():
    best, other = rows_of(CASES, "em")
    assert best.estimator == "least_confidence" and best.em == 1.0 and best.threshold.tagged == 0.5
    assert 0.2 < best.threshold.value <= 0.6
    assert best.pearson < -0.7 and other.pearson is None
    assert other.em == 0.5


def test_of_equal_exact_matches_f1_decides():
    cases = [case(0.1, RIGHT, RIGHT), case(0.9, WRONG, HALF)]
    best = rows_of(cases, "em")[0]
    assert best.estimator == "least_confidence" and best.f1 == 0.75 and best.threshold.tagged == 0.5


def test_requests_without_instructions_keep_the_first_answer():
    cases = [*CASES, case(0.99, RIGHT, RIGHT, gated=False)]
    best = rows_of(cases, "em")[0]
    assert best.em == 1.0
    assert best.threshold.tagged == 0.5, "the share is of those that could be tagged"


def test_an_estimator_that_not_every_answer_has_is_no_choice():
    cases = [*CASES, Case({"least_confidence": 0.5}, RIGHT, RIGHT, True)]
    assert [row.estimator for row in rows_of(cases, "f1")] == ["least_confidence"]


def test_an_answer_without_any_uncertainty_counts_as_unsure():
    best = rows_of([*CASES, Case({}, WRONG, RIGHT, True)], "em")[0]
    assert best.estimator == "least_confidence" and best.em == 1.0
    assert best.threshold.tagged == 0.6, "it is tagged whatever the threshold, as the gate does"
    assert best.pearson == rows_of(CASES, "em")[0].pearson
    worse = rows_of([*CASES, Case({}, RIGHT, WRONG, True)], "em")[0]
    assert worse.em == 0.8


def test_nothing_to_choose_on_is_said():
    with pytest.raises(InputError, match="--dev-instances"):
        rows_of([case(0.1, RIGHT, RIGHT, gated=False)], "em")
    with pytest.raises(InputError, match="no log-probabilities"):
        rows_of([Case({}, RIGHT, RIGHT, True)], "em")


def test_the_table_shows_both_extremes():
    text = table(rows_of(CASES, "em"), CASES)
    assert "never tagged" in text and "always tagged" in text
    line = next(one for one in text.splitlines() if one.startswith("least_confidence"))
    assert line.split()[-3:] == ["50.0", "100.0", "100.0"]
    assert record(rows_of(CASES, "em"))["least_confidence"]["em"] == 1.0


def test_pearson_needs_variation():
    assert pearson([1, 2, 3], [6, 4, 2]) == -1.0
    assert pearson([1, 1], [1, 2]) is None and pearson([1], [1]) is None
