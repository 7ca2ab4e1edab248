import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from predictive_world import lift

from prefine_dspy.errors import InputError
from prefine_dspy.lm.values import ValueDistribution
from prefine_dspy.predictive.lift import MEASURES, OTHER, lift_rule, with_other

UP = lift({"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.5})


def test_the_measures():
    assert UP.by("kl") == pytest.approx(0.9 * math.log(1.8) + 0.1 * math.log(0.2))
    assert UP.by("relative_kl") == pytest.approx(UP.by("kl") / math.log(2))
    assert UP.by("log_odds") == pytest.approx(math.log(9))


def test_the_relative_measure_is_free_of_the_number_of_values():
    two = lift({"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5})
    eight = lift({"a": 1.0}, dict.fromkeys("abcdefgh", 1 / 8))
    assert two.by("relative_kl") == pytest.approx(eight.by("relative_kl"))
    assert two.by("kl") < eight.by("kl")


@pytest.mark.parametrize("measure", MEASURES)
def test_no_move_is_no_lift(measure):
    assert lift({"a": 0.7, "b": 0.3}, {"a": 0.7, "b": 0.3}).by(measure) == pytest.approx(0.0)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6), st.sampled_from(MEASURES))
def test_lifts_are_finite_and_never_negative(weights, measure):
    values = "abcdef"[: len(weights)]
    total = sum(weights) or 1.0
    found = lift(
        {one: weight / total for one, weight in zip(values, weights, strict=True)},
        dict.fromkeys(values, 1 / len(values)),
    ).by(measure)
    assert 0 <= found < math.inf


def test_up_means_likelier_than_before():
    assert UP.best == "a" and UP.up
    assert not lift({"a": 0.6, "b": 0.4}, {"a": 0.9, "b": 0.1}).up


def test_the_ratio_of_a_value_that_was_not_asked_about():
    assert UP.log_ratio("c") is None
    named = (
        ValueDistribution(("Jay Chou",), (1.0,), "exact", coverage=0.8),
        ValueDistribution(("Jay Chou",), (1.0,), "exact", coverage=0.2),
    )
    from prefine_dspy.predictive.lift import Lift

    whole = Lift(*map(with_other, named))
    assert whole.given.of(OTHER) == pytest.approx(0.2)
    assert whole.log_ratio("Jay Chou") == pytest.approx(math.log(4))
    assert whole.log_ratio("somebody else") == pytest.approx(math.log(0.25))


def test_a_prior_moves_both_and_keeps_the_ratio():
    corrected = UP.corrected({"a": 0.1, "b": 0.9})
    assert corrected.null.probabilities == pytest.approx((0.1, 0.9))
    odds = corrected.given.of("a") / corrected.given.of("b")
    assert odds == pytest.approx((0.9 * 0.1) / (0.1 * 0.9), rel=0.02)


def test_rules_are_checked():
    assert lift_rule("kl", 0).threshold == 0
    for measure, threshold in (("entropy", 0.1), ("kl", -0.1), ("kl", float("nan")), ("kl", True), ("kl", "much")):
        with pytest.raises(InputError):
            lift_rule(measure, threshold)
