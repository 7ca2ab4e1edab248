"""Groundings as one line of text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.situation import Grounding, Test, condition_text, read_condition
from prefine_dspy.situation.comparison import OPERATORS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "reservation R42.cabin != basic_economy",
            Grounding(
                type="reservation", id="R42", tests=(Test(attribute="cabin", operator="!=", value="basic_economy"),)
            ),
        ),
        ("R42.cabin = 'basic economy'", Grounding(id="R42", tests=(Test(attribute="cabin", value="basic economy"),))),
        (
            "order #W1.items[0].price ≤ 9.5",
            Grounding(type="order", id="#W1", tests=(Test(attribute="items[0].price", operator="<=", value=9.5),)),
        ),
        ("order #W1.zip is 0012", Grounding(type="order", id="#W1", tests=(Test(attribute="zip", value="0012"),))),
        (
            "order O1.status in [pending, 'on hold']",
            Grounding(
                type="order", id="O1", tests=(Test(attribute="status", operator="in", value=["pending", "on hold"]),)
            ),
        ),
        ("user u1.email exists", Grounding(type="user", id="u1", tests=(Test(attribute="email", operator="exists"),))),
        (
            "any product P7.variants: options.backlight == none and available == true",
            Grounding(
                type="product",
                id="P7",
                over="variants",
                quantifier="any",
                tests=(Test(attribute="options.backlight", value="none"), Test(attribute="available", value=True)),
            ),
        ),
        (
            "every restaurant: rating >= 4",
            Grounding(type="restaurant", tests=(Test(attribute="rating", operator=">=", value=4),)),
        ),
    ],
)
def test_read(text: str, expected: Grounding) -> None:
    assert read_condition(text) == expected
    assert read_condition(condition_text(expected)) == expected


def test_or_joins_tests_of_one_entity_and_a_mixture_is_not_guessed() -> None:
    found = read_condition("reservation R42.cabin == business or reservation R42.insurance == yes")
    assert found is not None and found.join == "or"
    assert [test.attribute for test in found.tests] == ["cabin", "insurance"]
    assert read_condition("R42.a == 1 or b == 2 and c == 3") is None


@pytest.mark.parametrize(
    "text", ["", "fare is not basic economy", "be nice", "cabin != basic", "a" * 2000, "any: x == 1", ": ==", "x.y =="]
)
def test_prose_is_no_condition(text: str) -> None:
    assert read_condition(text) is None


VALUES = st.text(alphabet="ab 0.:=<>'\"[],#-_", max_size=10) | st.booleans() | st.none() | st.integers(-99, 99)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([one for one in OPERATORS if one != "exists"]),
    VALUES | st.lists(VALUES.filter(lambda one: isinstance(one, str)), max_size=3),
)
def test_every_value_reads_back(operator: str, value: object) -> None:
    grounding = Grounding.model_validate(
        {"type": "order", "id": "O1", "tests": [{"attribute": "status", "operator": operator, "value": value}]}
    )
    read = read_condition(condition_text(grounding))
    if read is not None:  # quotes inside quotes are refused, never misread
        assert read == grounding


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    read_condition(text)
    read_condition(f"any order {text}: a == {text}")
