import asyncio

import pytest
from scripted_lm import Script, lm_of, prompt_of
from small_world import TOOLS, flight

import prefine_dspy as pf

MEMORY = "The user prefers economy class and Lufthansa"


def completing(*, function="GetFlights", **given):
    return Script(lambda request: {"call": {"function": function, "arguments": given}})


def completed(script, call, memory=MEMORY, **options):
    return pf.complete(call, memory, TOOLS, agent=pf.load(pf.PRefine(), lm_of(script)), **options)


def test_only_what_is_lacking_is_filled_in():
    script = completing(flight_class="Economy", airlines="Lufthansa", passengers="unspecified")
    result = completed(script, {"name": "GetFlights", "arguments": {"destination": "Oslo"}})
    assert result.calls == (flight("Economy", airlines="Lufthansa", destination="Oslo"),)
    origins = {name: source.origin for name, source in result.sources[0].items()}
    assert origins == {"destination": "given", "flight_class": "memory", "airlines": "memory"}


@pytest.mark.parametrize("stated", ["Business", "Something else", ""])
def test_what_was_stated_is_never_overridden(stated):
    script = completing(flight_class="Economy", airlines="Lufthansa")
    result = completed(script, pf.ToolCall.of("GetFlights", flight_class=stated, extra=1))
    assert result.calls[0].arguments["flight_class"] == stated
    assert result.calls[0].arguments["extra"] == 1
    # the LM cannot even answer it: it is not asked about that argument
    schema = script.requests[-1].config.response_format["schema"]["properties"]["call"]["anyOf"][0]
    assert "flight_class" not in schema["properties"]["arguments"]["properties"]


def test_the_lm_reads_what_was_decided_and_said():
    script = completing()
    completed(script, flight("Business"), query="Fly me to Rome")
    text = prompt_of(script.requests[-1])
    assert 'GetFlights(flight_class="Business")' in text and "User: Fly me to Rome" in text and MEMORY in text


def test_what_is_done_this_once_comes_from_the_query_alone():
    assert "destination" not in completed(completing(destination="Rome"), flight()).calls[0].arguments
    found = completed(completing(destination="Rome"), flight(), query="Fly me to Rome")
    assert found.calls[0].arguments["destination"] == "Rome"
    assert found.sources[0]["destination"].origin == "query"


@pytest.mark.parametrize("memory", [None, "", pf.UserMemory()])
def test_where_nothing_is_known_no_lm_is_asked(memory):
    result = completed(Script([]), flight(), memory=memory)
    assert result.calls == (flight(),)


def test_a_full_call_asks_no_lm():
    call = flight(airlines="A", passengers="1")
    assert completed(Script([]), call).calls == (call,)


@pytest.mark.parametrize("answer", ["nonsense", '{"call":{"function":"GetHotels","arguments":{"average_star":"1"}}}'])
def test_an_answer_that_does_not_fit_changes_nothing(answer):
    assert completed(Script([answer]), flight()).calls == (flight(),)


def test_defaults_and_missing_arguments():
    tools = [{"name": "f", "parameters": {
        "properties": {"a": {"type": "string"}, "b": {"type": "integer", "default": 2}, "c": {"type": "string"}},
        "required": ["a", "b", "c"],
    }}]  # fmt: skip
    result = pf.complete(
        {"name": "f", "arguments": {"a": "x"}}, None, tools, agent=pf.load(pf.PRefine(), lm_of(Script([])))
    )
    assert result.calls[0].arguments == {"a": "x", "b": 2}
    assert result.missing == (("c",),)
    assert result.sources[0]["b"].origin == "default"


def test_an_unknown_function_is_said():
    with pytest.raises(pf.InputError, match="the call is of f, which is not among the tools: GetFlights, GetHotels"):
        completed(Script([]), {"name": "f"})


def test_async():
    agent = pf.load(pf.PRefine(), lm_of(completing(flight_class="Economy")))
    result = asyncio.run(pf.acomplete({"name": "GetFlights"}, MEMORY, TOOLS, agent=agent))
    assert result.calls == (flight(),)
