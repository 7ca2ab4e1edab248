"""The gate: uncertainty from log-probabilities, and a threshold from validation data."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.confidence import Token
from prefine_dspy.gate import GRID, Gate, choose_threshold, disagreement, uncertainties
from prefine_dspy.types import ToolCall


def token(text, probability, **others):
    """A token with rivals by name."""
    rivals = tuple((name.encode(), math.log(p)) for name, p in others.items())
    return Token(text.encode(), math.log(probability), ((text.encode(), math.log(probability)), *rivals))


def test_least_confidence_is_one_minus_the_mean_probability():
    found = uncertainties([token("a", 0.9), token("b", 0.4)])
    assert found["least_confidence"] == pytest.approx(1 - math.sqrt(0.9 * 0.4), abs=1e-6)


def test_a_longer_sure_answer_is_not_less_sure():
    short, long = (uncertainties([token("a", 0.9)] * n)["least_confidence"] for n in (2, 40))
    assert short == pytest.approx(long)


def test_margin_at_t_is_the_mean_gap_of_the_two_best():
    found = uncertainties([token("a", 0.7, b=0.2, c=0.1), token("x", 0.6, y=0.4)])
    assert found["margin_at_t"] == pytest.approx(1 - (0.5 + 0.2) / 2, abs=1e-6)


def test_margin_at_t_looks_at_what_the_lm_preferred_not_at_what_the_grammar_took():
    # the grammar forced "b": the gap between the two best is the same
    free, forced = uncertainties([token("a", 0.7, b=0.2)]), uncertainties([token("b", 0.2, a=0.7)])
    assert free["margin_at_t"] == forced["margin_at_t"]


def test_the_sequence_margin_compares_with_the_best_other_answer():
    tokens = [token("a", 0.9, b=0.1), token("x", 0.5, y=0.5)]
    # the best rival takes "y" for "x" and is as likely: no margin
    assert uncertainties(tokens)["sequence_margin"] == pytest.approx(1.0)
    sure = uncertainties([token("a", 0.99, b=0.0001), token("x", 0.99, y=0.0001)])
    assert sure["sequence_margin"] < 0.2


def test_without_alternatives_there_are_no_margins():
    assert set(uncertainties([Token(b"a", -0.1)])) == {"least_confidence"}


def test_the_weakest_argument_decides():
    assert uncertainties([], [{"city": 0.9, "date": 0.3}, {"city": 0.8}]) == {"weakest_argument": 0.7}
    assert uncertainties([], [{}]) == {}


def test_nothing_known_is_nothing_said():
    assert uncertainties([]) == {}


tokens = st.lists(
    st.builds(
        lambda p, q: token("a", p, b=q), st.floats(1e-6, 1.0, exclude_min=True), st.floats(1e-6, 1.0, exclude_min=True)
    ),
    min_size=1,
    max_size=8,
)


@settings(deadline=None)
@given(tokens)
def test_every_estimator_is_a_share(some):
    assert all(0.0 <= value <= 1.0 for value in uncertainties(some).values())


def test_the_gate_opens_at_its_threshold():
    gate = Gate(threshold=0.2)
    assert gate.unsure({"least_confidence": 0.2})
    assert not gate.unsure({"least_confidence": 0.19})
    assert gate.unsure({"margin_at_t": 0.0}), "an unknown uncertainty counts as unsure"
    assert Gate(threshold=0).unsure({"least_confidence": 0.0})
    assert not Gate(threshold=1.01).unsure({"least_confidence": 1.0})


def test_disagreement_compares_calls_as_sets():
    one, other = ToolCall.of("F", a="1"), ToolCall.of("G")
    assert disagreement([one, other], [[other, one], [one], [one, other], []]) == 0.5
    with pytest.raises(ValueError, match="at least one"):
        disagreement([one], [])


def test_the_threshold_takes_the_better_answer_of_either_side():
    found = choose_threshold([0.1, 0.2, 0.6, 0.9], default=[1, 1, 0, 0], tagged=[0, 0, 1, 1])
    assert found.score == 1.0 and found.tagged == 0.5
    assert 0.2 < found.value <= 0.6


def test_of_equal_thresholds_that_with_the_fewest_calls():
    uncertainty, default, tagged = [0.1, 0.5, 0.9], [1, 1, 0], [1, 1, 1]
    assert choose_threshold(uncertainty, default, tagged).tagged == pytest.approx(1 / 3)
    # the published code takes the smallest
    published = choose_threshold(uncertainty, default, tagged, fewest_calls=False)
    assert published.value == 0.0 and published.tagged == 1.0


def test_a_tagger_that_only_harms_is_never_called():
    found = choose_threshold([0.5, 1.0], default=[1, 1], tagged=[0, 0])
    assert found.value > 1 and found.tagged == 0 and found.score == 1
    assert not Gate(threshold=found.value).unsure({"least_confidence": 1.0})


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=12,
    )
)
def test_no_threshold_of_the_grid_is_better(rows):
    uncertainty, default, tagged = (list(column) for column in zip(*rows, strict=True))
    best = choose_threshold(uncertainty, default, tagged)
    for step in range(GRID):
        gate = step / (GRID - 1)
        scores = [t if u >= gate else d for u, d, t in rows]
        assert best.score >= sum(scores) / len(scores) - 1e-9
    assert best.score >= sum(default) / len(default) - 1e-9


@pytest.mark.parametrize("lists", [([], [], []), ([0.1], [1, 1], [1]), ([0.1], [1], [])])
def test_lists_of_different_lengths_are_refused(lists):
    with pytest.raises(ValueError, match="for each validation example"):
        choose_threshold(*lists)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1_000.0])
def test_what_is_no_log_probability_says_nothing(value):
    good = Token(b"a", -0.1)
    assert uncertainties([good, Token(b"b", value)]) == {}
    assert uncertainties([good, Token(b"b", -0.1, ((b"c", value),))]) == {}
    assert Gate(threshold=1.0).unsure(uncertainties([Token(b"b", value)]))
    assert uncertainties([Token(b"b", -math.inf)])["least_confidence"] == 1.0
