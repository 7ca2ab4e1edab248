"""Comparing facts with what is required: right where it can be told, None where it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.situation.comparison import OPERATORS, holds


@pytest.mark.parametrize(
    ("fact", "operator", "required", "expected"),
    [
        ("basic_economy", "==", "Basic Economy", True),
        ("basic_economy", "!=", "economy", True),
        (2, "==", "2", True),
        ("10", "==", "10.0", False),
        ("0012", "==", "12", False),
        (3.5, "<=", 4, True),
        ("327.0", ">", 300, True),
        (True, "==", "yes", True),
        (True, "==", 1, None),
        ("economy", "<", "first", None),
        (None, "==", "x", False),
        ("2030-05-14T15:00:00", ">=", "2030-05-14T14:59:00", True),
        ("2030-05-14T15:00:00", "<=", "2030-05-14", True),
        ("2030-05-14", "<", "2030-05-20", True),
        ("13:28", ">=", "13:00", True),
        ("03:00:00+1", ">", "22:00:00", True),
        ("13:28", ">=", "2030-01-01", None),
        ("2030-05-14T15:00:00+00:00", "<", "2030-05-14T15:00:00", None),
        ("b", "in", ["a", "B"], True),
        ("c", "not in", ["a", "b"], True),
        (["WiFi", "Carry on"], "contains", "wifi", True),
        ({"c1": {}}, "contains", "c2", False),
        ("Business Dining", "contains", "dining", True),
        (5, "contains", 5, None),
        (None, "exists", None, False),
        (0, "exists", None, True),
        ("credit_card_17", "matches", "credit*", True),
        ("credit_card_17", "matches", "(credit)+$", None),
        ({"a": 1}, "==", {"a": 1}, True),
        ([1], "==", 1, None),
        (float("nan"), "<", 1, None),
    ],
)
def test_holds(fact: Any, operator: Any, required: Any, expected: bool | None) -> None:
    assert holds(fact, operator, required) is expected


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


@settings(max_examples=150, deadline=None)
@given(ANY, ANY)
def test_nothing_raises_and_a_negation_is_the_opposite(fact: Any, required: Any) -> None:
    found = {operator: holds(fact, operator, required) for operator in OPERATORS}
    for positive, negative in (("==", "!="), ("in", "not in")):
        assert (found[positive] is None) == (found[negative] is None)
        assert found[positive] is None or found[positive] is not found[negative]
