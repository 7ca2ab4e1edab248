import dspy
import pytest
from scripted_lm import Script, lm_of, prompt_of
from small_world import SESSIONS, TOOLS

from prefine_dspy.types import History, Memory, Query, ToolCall
from programs.full_history import FullHistory, FullHistorySystem

HISTORY = History(id="h", sessions=SESSIONS)
QUERY = Query.of("Book me a flight")
ANSWER = {"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}}


def test_the_whole_history_is_in_the_prompt_and_one_call_is_made():
    script = Script([ANSWER])
    with dspy.context(lm=lm_of(script)):
        prediction = FullHistorySystem().answer(QUERY, TOOLS, HISTORY, Memory(text="not read"))
    assert prediction.calls == [ToolCall.of("GetFlights", flight_class="Economy")]
    (request,) = script.requests
    asked = prompt_of(request)
    for session in SESSIONS:
        assert all(turn.text in asked for turn in session.turns)
        assert all(str(call) in asked for call in session.calls)
    assert prediction.memory_text in asked
    assert "not read" not in asked
    assert asked.index("[Session 3]") < asked.index("Book me a flight")


def test_a_user_without_a_past():
    script = Script([ANSWER])
    with dspy.context(lm=lm_of(script)):
        FullHistory()(history=History(id="h"), query=QUERY, tools=TOOLS)
    assert "memory: (nothing yet)" in prompt_of(script.requests[0])


def test_it_keeps_no_memory():
    system = FullHistorySystem()
    assert system.builds_memory is False
    with pytest.raises(NotImplementedError):
        system.update(Memory(), SESSIONS, TOOLS)
