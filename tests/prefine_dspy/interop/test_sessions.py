import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_world import SESSIONS

import prefine_dspy as pf
from prefine_dspy.interop.chat_log import read_chat
from prefine_dspy.interop.mcp_log import read_mcp
from prefine_dspy.interop.outcomes import failed
from prefine_dspy.interop.sessions import to_query, to_session
from prefine_dspy.types import ToolCall, Turn


def asked(id, arguments, name="book"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT = [
    {"role": "system", "content": "You are a travel agent."},
    {"role": "user", "content": [{"type": "text", "text": "Economy, please"}, {"type": "image_url", "image_url": {}}]},
    {"role": "assistant", "content": None, "tool_calls": [asked("1", '{"class": "Economy"}'), asked("2", '{"n": 99}')]},
    {"role": "tool", "tool_call_id": "1", "content": "booked"},
    {"role": "tool", "tool_call_id": "2", "content": json.dumps({"error": "too many"})},
    {"role": "assistant", "content": "Done.", "tool_calls": [asked("3", "{"), asked("4", '{"never": "answered"}')]},
]


def test_chat_messages():
    session = to_session(CHAT, id="s1")
    call = ToolCall.of("book", **{"class": "Economy"})
    assert session.calls == (call,)
    assert session.turns == (
        Turn(role="user", text="Economy, please"),
        Turn(role="assistant", text="", calls=(call,)),
        Turn(role="assistant", text="Done."),
    )
    assert session.id == "s1"


def test_what_was_left_out_is_counted():
    log = read_chat(CHAT)
    assert (log.failed, log.unreadable) == (2, 1)


def test_sdk_objects():
    chat = pytest.importorskip("openai.types.chat")
    message = chat.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [asked("1", '{"a": 1}')]}
    )
    assert to_session([message], id="s").calls == (ToolCall.of("book", a=1),)


def test_responses_items():
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Jazz"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "play", "arguments": '{"genre": "jazz"}'},
        {"type": "function_call_output", "call_id": "c1", "output": '{"ok": true}'},
        {"type": "function_call", "call_id": "c2", "name": "play", "arguments": '{"genre": "rock"}'},
        {"type": "function_call_output", "call_id": "c2", "output": '{"ok": false}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Enjoy."}]},
    ]
    session = to_session(items, id="s")
    assert session.calls == (ToolCall.of("play", genre="jazz"),)
    assert [turn.text for turn in session.turns] == ["Jazz", "", "Enjoy."]


def test_a_log_without_any_results_does_not_record_them():
    assert to_session(CHAT[:3], id="s").calls == (
        ToolCall.of("book", **{"class": "Economy"}),
        ToolCall.of("book", n=99),
    )


def test_a_call_made_twice_counts_once():
    messages = [
        {"role": "assistant", "tool_calls": [asked("1", '{"a": 1}'), asked("2", '{"a": 1}')]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "tool", "tool_call_id": "2", "content": "ok"},
    ]
    assert to_session(messages, id="s").calls == (ToolCall.of("book", a=1),)


MCP = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "play", "arguments": {"genre": "jazz"}}},
    {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "ok"}], "isError": False}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "play", "arguments": {"genre": "x"}}},
    {"jsonrpc": "2.0", "id": 2, "result": {"content": [], "isError": True}},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "stop"}},
    {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "no such tool"}},
    {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "stop"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}},
]


def test_mcp_traffic():
    assert to_session(MCP, id="s").calls == (ToolCall.of("play", genre="jazz"),)
    assert read_mcp(MCP).failed == 3


def test_mcp_traffic_in_envelopes():
    assert to_session([{"direction": "out", "message": one} for one in MCP], id="s") == to_session(MCP, id="s")


def test_mcp_results_as_sdk_objects():
    types = pytest.importorskip("mcp.types")
    result = types.CallToolResult(content=[], isError=True)
    assert to_session([MCP[2], {"id": 1, "result": result}], id="s").calls == ()


def test_ones_own_sessions_are_taken_as_they_are():
    assert to_session(SESSIONS[0], id="other") is SESSIONS[0]
    assert to_session(SESSIONS[0].model_dump(), id="other") == SESSIONS[0]
    assert to_session({"messages": CHAT}, id="s") == to_session(CHAT, id="s")
    assert to_session([], id="s") == pf.Session(id="s")


@pytest.mark.parametrize(
    ("session", "message"),
    [
        (None, "not NoneType"),
        ("hello", "not str"),
        (["hello"], "neither a 'role'"),
        ([{"text": "hello"}], "neither a 'role'"),
        ({"turns": 3}, "does not fit Session"),
        ({"messages": 3}, "not int"),
    ],
)
def test_what_is_no_session_is_said(session, message):
    with pytest.raises(pf.InputError, match=message):
        to_session(session, id="s")


def test_queries():
    assert to_query("Book it").turns == (Turn(role="user", text="Book it"),)
    assert [turn.text for turn in to_query(CHAT[:2]).turns] == ["Economy, please"]
    query = pf.Query.of("x")
    assert to_query(query) is query


@pytest.mark.parametrize("query", ["", "  ", None, [], 3, [{"role": "assistant", "content": "Hi"}], {"role": "user"}])
def test_what_asks_nothing_is_said(query):
    with pytest.raises(pf.InputError, match="the query is empty"):
        to_query(query)


@pytest.mark.parametrize(
    "result",
    [
        "Error: no seats",
        "Traceback (most recent call last):",
        '{"error": "x"}',
        '"Error"',
        {"isError": True},
        {"is_error": True},
        {"success": False},
        {"status": "failed"},
        "Failed to book",
    ],
)
def test_failures(result):
    assert failed(result)


@pytest.mark.parametrize(
    "result",
    [None, "", "ok", "No errors found", "{", '{"error": null}', '{"items": []}', {"status": "ok"}, "3", "Terror"],
)
def test_successes(result):
    assert not failed(result)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "role content tool_calls function name arguments id type text method params result".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "tool"])},
            optional={"content": hostile, "tool_calls": hostile, "tool_call_id": hostile, "type": hostile},
        ),
        max_size=4,
    )
)
def test_hostile_chats_never_crash(messages):
    to_session(messages, id="s")


@settings(deadline=None)
@given(st.lists(st.fixed_dictionaries({"method": st.just("tools/call")}, optional={"params": hostile, "id": hostile})))
def test_hostile_traffic_never_crashes(messages):
    to_session(messages, id="s")
