from __future__ import annotations

import pytest
from agent_world import CHANGE, GET, TOOLS, say

from prefine_dspy.agents.protocol import Reply
from prefine_dspy.agents.reading import ASK_AGAIN, LONGEST_TEXT, fields_of, read_action
from prefine_dspy.agents.reads import only_reads
from prefine_dspy.types import ToolCall


def change(**arguments):
    return {"function": "change_order", "arguments": {"order_id": "o1", **arguments}}


@pytest.mark.parametrize(
    ("answer", "call"),
    [
        (GET, ToolCall.of("get_order", order_id="o1")),
        ('{"function": "get_order", "arguments": {"order_id": "o1"}}', ToolCall.of("get_order", order_id="o1")),
        ({"name": "GetOrder", "arguments": {"order_id": "o1"}}, ToolCall.of("get_order", order_id="o1")),
        (change(express="True"), ToolCall.of("change_order", order_id="o1", express=True)),
        (change(items=["a", "a"]), ToolCall.of("change_order", order_id="o1", items=["a", "a"])),
        (change(colour="Red"), ToolCall.of("change_order", order_id="o1", colour="red")),
        (change(colour="unspecified"), ToolCall.of("change_order", order_id="o1")),
        (change(colour=None), ToolCall.of("change_order", order_id="o1")),
        ({"function": "get_order", "arguments": {"order_id": "none"}}, ToolCall.of("get_order", order_id="none")),
    ],
)
def test_calls_come_in_the_types_of_the_catalogue(answer, call):
    read = read_action(answer, TOOLS)
    assert (read.action, read.counts) == (call, {})


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        (change(colour="green"), "refused", "change_order.colour cannot be"),
        (change(express="perhaps"), "refused", "change_order.express"),
        ({"function": "get_order", "arguments": {}}, "refused", "get_order needs order_id"),
        ({"function": "delete_all", "arguments": {}}, "refused", "there is no tool delete_all"),
        ("I think we should look.", "unparsed", "neither"),
        ("", "unparsed", "neither"),
        (None, "unparsed", "neither"),
        ({}, "unparsed", "neither"),
        ([], "unparsed", "neither"),
        (17, "unparsed", "neither"),
        ({"reply": ""}, "unparsed", "empty"),
        ({"reply": None}, "unparsed", "empty"),
        ({"reply": "<state>intents: []</state>"}, "unparsed", "empty"),
    ],
)
def test_what_cannot_be_used_asks_the_user(answer, kind, why):
    read = read_action(answer, TOOLS)
    assert read.action == Reply(text=ASK_AGAIN) and read.counts == {kind: 1} and why in read.problem
    assert not read.usable


def test_an_argument_that_the_tool_does_not_have_is_left_out():
    read = read_action(change(colour="red", price=3), TOOLS)
    assert read.action == ToolCall.of("change_order", order_id="o1", colour="red")
    assert read.counts == {"dropped": 1} and "price" in read.problem and read.usable


def test_of_several_calls_the_first_is_made():
    read = read_action([GET, CHANGE], TOOLS)
    assert read.action == ToolCall.of("get_order", order_id="o1") and "2 calls" in read.problem


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (say("Hello."), "Hello."),
        ({"function": "reply", "arguments": {"text": "Hello."}}, "Hello."),
        (say("Hello.<state>intents: []</state>"), "Hello."),
        (say("half \ud83d character"), "half ? character"),
        (say("x" * 9_000), "x" * LONGEST_TEXT),
    ],
)
def test_messages(answer, text):
    assert read_action(answer, TOOLS).action == Reply(text=text)


def test_fields_of_an_answer_that_is_cut_off():
    cut = 'Sure: {"thought": "look", "action": {"function": "get_order", "arguments": {"order_id": "o1"'
    fields = fields_of(cut)
    assert fields["thought"] == "look"
    assert read_action(fields["action"], TOOLS).action == ToolCall.of("get_order", order_id="o1")
    assert fields_of("nothing") == {} and fields_of("{" * 5_000) == {}


@pytest.mark.parametrize(
    "name", ["get_booking", "searchFlights", "find_user_id_by_email", "calculate", "list_all", "HasSeat"]
)
def test_reading_tools(name):
    assert only_reads(name)


@pytest.mark.parametrize(
    "name",
    ["book_flight", "cancel_booking", "update_extras", "transfer_to_human", "getaway", "", "getter_of"]
    + ["check_in", "checkOut", "find_and_book"],
)
def test_writing_tools_and_doubt(name):
    assert not only_reads(name)
