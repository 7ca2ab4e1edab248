import json

import pytest
from scripted_lm import Script, lm_of, prompt_of
from token_lm import Tokens, sure

from prefine_dspy.lm.values import ValueCache, ValueQuestion, value_distribution, value_distributions

VALUES = ("Economy", "Premium", "Premium Economy")
HEAD = '{"function":"GetFlights","flight_class":"'


def question(text="cheap", values=VALUES):
    return ValueQuestion("Fill in.", f"memory: {text}", (("function", "GetFlights"),), "flight_class", values)


def asked(lm, values=VALUES, **options):
    return value_distribution(lm, question(values=values), cache=ValueCache(), **options)


def test_alternatives_along_one_answer():
    tokens = [
        sure(HEAD),
        ("Economy", 0.5, {"Economy": 0.5, "Premium": 0.25, "First": 0.25}),
        sure('"}'),
    ]
    found = asked(Tokens(tokens).lm())
    assert found.how == "logprobs"
    assert found.of("Economy") == pytest.approx(2 / 3)
    # the two that begin alike were not told apart, and it says so
    assert found.of("Premium") == found.of("Premium Economy") == pytest.approx(1 / 6)
    assert found.missing_mass == pytest.approx(1 / 3)


def test_values_are_told_apart_where_the_answer_took_their_way():
    tokens = [
        sure(HEAD),
        ("Premium", 0.75, {"Premium": 0.75, "Economy": 0.25}),
        (" Economy", 0.6, {" Economy": 0.6, '"}': 0.2, '",': 0.2}),
        sure('"}'),
    ]
    found = asked(Tokens(tokens).lm())
    assert found.probabilities == pytest.approx((0.25, 0.75 * 0.4, 0.75 * 0.6))
    assert found.missing_mass == 0


def test_a_token_may_hold_the_end_of_the_head():
    tokens = [sure(HEAD[:-1]), ('"A', 0.8, {'"A': 0.8, '"B': 0.2}), sure('"}')]
    assert asked(Tokens(tokens).lm(), values=("A", "B")).of("A") == pytest.approx(0.8)


def test_an_unlisted_value_is_bounded():
    tokens = [sure(HEAD), ("Economy", 0.9, {"Economy": 0.9, "x": 0.08}), sure('"}')]
    found = asked(Tokens(tokens).lm(), values=("Economy", "Premium"))
    assert found.of("Premium") == pytest.approx(0.02 / 0.92)
    assert found.missing_mass == pytest.approx(0.02 / 0.92)


def test_an_answer_that_cannot_be_aligned_falls_back_to_samples():
    found = asked(Tokens([sure("I do not know")]).lm(), samples=2)
    assert found.how == "samples" and found.missing_mass == 1.0
    assert found.probabilities == pytest.approx((1 / 3,) * 3)


def without_logprobs(answers):
    script = Script(answers)
    script.supported_params = frozenset({"temperature", "max_tokens", "response_format"})
    return lm_of(script), script


def test_samples_where_the_lm_lists_nothing():
    answers = iter(["Economy", "economy", "Premium", "First"])
    lm, script = without_logprobs(lambda request: json.dumps({"flight_class": next(answers)}))
    found = asked(lm, samples=4)
    assert found.how == "samples"
    assert found.missing_mass == 0.25  # the answer outside the values
    assert found.probabilities == pytest.approx(((2 + 1 / 3) / 4, (1 + 1 / 3) / 4, (1 / 3) / 4))
    assert len(script.requests) == 4
    assert "(one of Economy|Premium|Premium Economy)" in prompt_of(script.requests[0])
    schema = script.requests[0].config.response_format["schema"]
    assert schema["properties"]["flight_class"]["enum"] == list(VALUES)


@pytest.mark.parametrize("answer", ["", "[]", "{", '{"flight_class": 3}', "[" * 5000 + "{}"])
def test_unreadable_samples_are_counted(answer):
    lm, _ = without_logprobs(lambda request: answer or " ")
    assert asked(lm, samples=1).missing_mass == 1.0


def test_several_questions_run_at_once_and_come_back_in_order():
    lm, script = without_logprobs(
        lambda request: json.dumps({"flight_class": "A" if "first" in prompt_of(request) else "B"})
    )
    found, took = value_distributions(
        lm, [question("first", ("A", "B")), question("second", ("A", "B"))], samples=2, cache=ValueCache()
    )
    assert [one.best for one in found] == ["A", "B"]
    assert (took.questions, len(script.requests)) == (2, 4)
