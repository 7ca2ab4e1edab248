import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import dspy
import jsonschema
import pytest
from scripted_lm import Script, lm_of, prompt_of
from small_world import FLIGHTS, HOTELS, TOOLS

from prefine_dspy.adapter import answer_schema
from prefine_dspy.caller import ToolCaller, with_tools
from prefine_dspy.parsing import Dropped
from prefine_dspy.signatures import CallTool
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query, ToolCall

QUERY = Query.of("Book me a flight to Paris")
FILLED = {
    "call": {
        "function": "GetFlights",
        "arguments": {
            "flight_class": "Economy",
            "passengers": "unspecified",
            "airlines": "unspecified",
            "destination": "Paris",
            "date": "unspecified",
        },
    }
}


def answered(answer, query=QUERY, tools=TOOLS, memory="Likes it cheap.", caller=None):
    script = answer if isinstance(answer, Script) else Script([answer])
    with dspy.context(lm=lm_of(script)):
        return (caller or ToolCaller())(query=query, tools=tools, memory=memory), script


def test_a_query_becomes_a_call_with_one_lm_call():
    prediction, script = answered(FILLED)
    assert prediction.calls == [ToolCall.of("GetFlights", flight_class="Economy", destination="Paris")]
    assert not prediction.parse_failed
    assert json.loads(prediction.raw) == FILLED["call"]
    assert len(script.requests) == 1


def test_what_the_lm_reads():
    _, script = answered(FILLED)
    (request,) = script.requests
    assert TOOLS.prompt_text() in request.system
    assert [message.text for message in request.messages] == [
        "memory: Likes it cheap.\n\nquery: User: Book me a flight to Paris"
    ]
    jsonschema.validate(FILLED, request.config.response_format["schema"])


def test_no_memory_is_said_to_be_none():
    _, script = answered(FILLED, memory="")
    assert "memory: (nothing yet)" in prompt_of(script.requests[0])


def test_the_catalogue_is_in_the_stable_part_of_the_prompt():
    script = Script(lambda _: FILLED)
    for text in ("Book me a flight", "Find a hotel in Rome for tonight"):
        answered(script, query=Query.of(text), memory=text)
    first, second = script.requests
    assert first.system == second.system


def test_nothing_filled_in_is_an_abstention():
    nothing = {
        "call": {
            "function": "GetHotels",
            "arguments": dict.fromkeys(("average_star", "has_wifi", "city"), "unspecified"),
        }
    }
    prediction, _ = answered(nothing)
    assert not any(call.arguments for call in prediction.calls)
    assert not prediction.parse_failed


def test_an_answer_that_says_nothing_is_counted_not_raised():
    prediction, script = answered("I would rather not.")
    assert prediction.calls == []
    assert prediction.parse_failed
    assert prediction.raw == "I would rather not."
    assert len(script.requests) == 1


def test_a_call_in_the_wrong_form_is_read_all_the_same():
    prediction, _ = answered('Sure: GetHotels(average_star="2")')
    assert prediction.calls == [ToolCall.of("GetHotels", average_star="2")]
    assert not prediction.parse_failed


def test_invented_names_are_dropped_and_reported():
    answer = {"call": {"function": "GetFlights", "arguments": {"airlines": "Alaska", "destination": "Paris"}}}
    prediction, _ = answered(answer)
    assert prediction.calls == [ToolCall.of("GetFlights", destination="Paris")]
    assert prediction.problems == [Dropped("not_grounded", "GetFlights", "airlines", "Alaska")]


def test_names_from_the_memory_stay():
    answer = {"call": {"function": "GetFlights", "arguments": {"airlines": "Alaska"}}}
    prediction, _ = answered(answer, memory="Flies with Alaska.")
    assert prediction.calls == [ToolCall.of("GetFlights", airlines="Alaska")]


def test_what_is_outside_the_catalogue_is_dropped_even_if_the_lm_was_not_constrained():
    answer = {"call": {"function": "GetFlights", "arguments": {"flight_class": "First", "colour": "red"}}}
    prediction, _ = answered(Script([answer], schema=False))
    assert prediction.calls == [ToolCall.of("GetFlights")]
    assert {problem.kind for problem in prediction.problems} == {"value_not_allowed", "unknown_argument"}


def test_an_lm_that_cannot_be_reached_raises():
    with pytest.raises(Exception, match="no connection"):
        answered(RuntimeError("no connection"))


def test_the_saved_state_keeps_the_plain_signature_and_its_demonstrations(tmp_path):
    caller = ToolCaller()
    caller.call_tool.demos = [dspy.Example(memory="m", query="q", call=FILLED["call"]).with_inputs("memory", "query")]
    answered(FILLED, caller=caller)
    state = caller.dump_state()["call_tool"]
    assert state["signature"]["instructions"] == CallTool.instructions
    assert "GetFlights(" not in json.dumps(state["signature"])
    caller.save(tmp_path / "program.json")
    loaded = ToolCaller()
    loaded.load(tmp_path / "program.json")
    _, script = answered(FILLED, caller=loaded)
    messages = script.requests[0].messages
    assert messages[0].text == "memory: m\n\nquery: q"
    assert json.loads(messages[1].text) == {"call": FILLED["call"]}


def test_compiled_instructions_come_before_the_tools():
    caller = ToolCaller()
    caller.call_tool.signature = caller.call_tool.signature.with_instructions("Be brief.")
    _, script = answered(FILLED, caller=caller)
    assert script.requests[0].system.startswith("Be brief.\n\nTools:\nGetFlights(")


def test_the_signature_of_a_catalogue_is_made_once():
    assert with_tools(CallTool, TOOLS) is with_tools(CallTool, TOOLS)
    schema = answer_schema(with_tools(CallTool, TOOLS))
    names = [one["properties"]["function"]["const"] for one in schema["properties"]["call"]["anyOf"]]
    assert names == ["GetFlights", "GetHotels"]


def test_two_threads_with_two_catalogues_do_not_mix():
    """One caller, two catalogues, two LMs: every request must hold one catalogue in text and schema alike."""
    caller = ToolCaller()
    sides = {tool.name: (Catalogue([tool]), Script(_first_function)) for tool in (FLIGHTS, HOTELS)}

    def ask(number: int) -> tuple[str, str]:
        name = FLIGHTS.name if number % 2 else HOTELS.name
        tools, script = sides[name]
        with dspy.context(lm=lm_of(script)):
            prediction = caller(query=Query.of(f"query {number}"), tools=tools)
        return name, prediction.calls[0].name

    with ThreadPoolExecutor(4) as pool:
        for name, called in pool.map(ask, range(40)):
            assert called == name
    for tool in (FLIGHTS, HOTELS):
        tools, script = sides[tool.name]
        other = HOTELS if tool is FLIGHTS else FLIGHTS
        assert len(script.requests) == 20
        for request in script.requests:
            assert tools.prompt_text() in request.system
            assert other.name not in request.system + json.dumps(request.config.response_format)


def _first_function(request):
    schema = request.config.response_format["schema"]["properties"]["call"]["anyOf"][0]
    return {"call": {"function": schema["properties"]["function"]["const"], "arguments": {}}}


def test_the_async_side_does_the_same():
    async def two():
        caller = ToolCaller()
        with dspy.context(lm=lm_of(Script([FILLED, "no idea"]))):
            first = await caller.acall(query=QUERY, tools=TOOLS, memory="")
            return first, await caller.acall(query=QUERY, tools=TOOLS, memory="")

    good, bad = asyncio.run(two())
    assert good.calls == [ToolCall.of("GetFlights", flight_class="Economy", destination="Paris")]
    assert bad.parse_failed and bad.raw == "no idea"


def test_the_callers_settings_are_left_alone():
    adapter = dspy.ChatAdapter()
    with dspy.context(lm=lm_of(Script([FILLED])), adapter=adapter):
        ToolCaller()(query=QUERY, tools=TOOLS)
        assert dspy.settings.adapter is adapter
