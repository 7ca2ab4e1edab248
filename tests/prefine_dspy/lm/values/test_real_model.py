"""The questions on real weights: the small model."""

import pytest

from prefine_dspy.lm.values import ValueCache, ValueQuestion, value_distributions

pytestmark = pytest.mark.tiny_lm


def question(text, **more):
    values = ("red", "green", "dark green")
    return ValueQuestion("Fill in.", f"memory: {text}", (("function", "Paint"),), "colour", values, **more)


def test_a_distribution_and_its_cached_prefix(tiny):
    texts = ("The user likes red.", "The user likes green.")
    questions = [question(text) for text in texts]
    (red, green), first = value_distributions(tiny, questions, cache=ValueCache())
    for one in (red, green):
        assert sum(one.probabilities) == pytest.approx(1.0) and one.how == "exact" and 0 <= one.coverage <= 1
    assert red.of("red") > green.of("red")
    (again, _), second = value_distributions(tiny, questions, cache=ValueCache())
    assert again.probabilities == pytest.approx(red.probabilities, abs=0.02)
    assert 0 < second.evaluated <= first.evaluated
