import json
from types import SimpleNamespace

import dspy
import pytest
from foreign_tools import CHAT
from hypothesis import given, settings
from hypothesis import strategies as st

import prefine_dspy as pf
from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.interop.json_values import Misfit, typed, typed_call
from prefine_dspy.interop.results import Calls, read_call
from prefine_dspy.tools import Parameter
from prefine_dspy.types import ToolCall

CALL = ToolCall.of("book_flight", passengers=2, refundable=True, contact={"city": "Zürich"})
CALLS = Calls([CALL])


def test_openai_chat_and_back():
    (sent,) = CALLS.to_openai()
    assert sent["type"] == "function" and sent["id"].startswith("call_")
    assert json.loads(sent["function"]["arguments"]) == CALL.arguments
    assert "Zürich" in sent["function"]["arguments"]
    assert read_call(sent) == CALL


def test_openai_responses_and_back():
    (sent,) = CALLS.to_openai_responses()
    assert sent["type"] == "function_call"
    assert read_call(sent) == CALL


def test_mcp_and_back():
    (sent,) = CALLS.to_mcp()
    assert sent == {"name": "book_flight", "arguments": CALL.arguments}
    assert read_call(sent) == CALL


def test_dspy_and_back():
    (sent,) = CALLS.to_dspy().tool_calls
    assert isinstance(CALLS.to_dspy(), dspy.ToolCalls)
    assert read_call(sent) == CALL


def test_ids_are_fresh():
    assert CALLS.to_openai()[0]["id"] != CALLS.to_openai()[0]["id"]


def test_null_is_not_given():
    assert read_call({"name": "f", "arguments": {"a": None, "b": 0}}) == ToolCall.of("f", b=0)
    assert read_call({"name": "f", "arguments": None}) == ToolCall.of("f")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (None, "no function name"),
        ("f(a=1)", "no function name"),
        ({"name": "f", "arguments": "{"}, "not JSON"),
        ({"name": "f", "arguments": "[1]"}, "not an object"),
        (SimpleNamespace(name="f"), "no function name"),
    ],
)
def test_what_is_no_call_is_said(call, message):
    with pytest.raises(pf.InputError, match=message):
        read_call(call)


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("True", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ("2", {"type": "integer"}, 2),
        (2.0, {"type": "integer"}, 2),
        ("2.5", {"type": "number"}, 2.5),
        ("2", {"type": "number"}, 2),
        (2, {"type": "string"}, "2"),
        ("economy", {"enum": ["Economy", "Business"]}, "Economy"),
        ("2", {"enum": [1, 2]}, 2),
        ("x", {"const": "X"}, "X"),
        (["1", 2], {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ("vegan", {"type": "array", "items": {"type": "string"}}, ["vegan"]),
        ('["a"]', {"type": "array", "items": {"type": "string"}}, ["a"]),
        ('{"a": "1"}', {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        ({"a": None, "b": 1}, {"type": "object", "properties": {"a": {"type": "integer"}}}, {"b": 1}),
        ("7", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "7"),
        ("x", {"type": ["integer", "string"]}, "x"),
        ("x", {}, "x"),
    ],
)
def test_values_get_their_types_back(value, schema, expected):
    found = typed(value, Parameter(name="a", json_schema=schema))
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("two", {"type": "integer"}),
        ("2.5", {"type": "integer"}),
        (True, {"type": "integer"}),
        ("maybe", {"type": "boolean"}),
        ("First", {"enum": ["Economy"]}),
        ("0", {"type": "integer", "minimum": 1}),
        ("ab", {"type": "string", "pattern": "^[A-Z]+$"}),
        ("x", {"type": "object"}),
        (["a", "b"], {"type": "array", "items": {"type": "string"}, "maxItems": 1}),
        ({"a": "x"}, {"type": "object", "properties": {"a": {"type": "integer"}}}),
        ({}, {"type": "object", "required": ["a"]}),
        ("x", {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}),
    ],
)
def test_what_cannot_be_of_the_type_is_a_misfit(value, schema):
    with pytest.raises(Misfit):
        typed(value, Parameter(name="a", json_schema=schema))


def test_a_broken_foreign_schema_refuses_nothing():
    assert typed("a", Parameter(name="a", json_schema={"type": "string", "pattern": "("})) == "a"


def test_mpts_repeated_arguments_stay_lists():
    assert typed(["Rock", "Pop"], Parameter(name="genre")) == ["Rock", "Pop"]


def test_misfits_are_left_out_and_named():
    call, misfits = typed_call(
        ToolCall.of("book_flight", passengers="12", destination="Rome", x="y"), catalogue([CHAT])
    )
    assert call == ToolCall.of("book_flight", destination="Rome", x="y")
    assert misfits == ["passengers"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*CHAT["function"]["parameters"]["properties"], "other"]), json_values))
def test_any_value_is_typed_or_left_out(arguments):
    typed, left_out = typed_call(ToolCall(name="book_flight", arguments=arguments), catalogue([CHAT]))
    assert {*typed.arguments, *left_out} == set(arguments)
