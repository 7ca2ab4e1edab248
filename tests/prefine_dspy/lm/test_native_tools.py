import json

import jsonschema
import pytest
from dspy import lm15
from made_requests import function_tool, request, response

from prefine_dspy.lm.tool_calls import MAX_CALLS, as_schema, from_answer

CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}
TOOLS = (function_tool(), function_tool("get_time"))


def schema_of(**config):
    plain, holds_calls = as_schema(request(tools=TOOLS, **config))
    assert holds_calls and plain.tools == () and plain.config.tool_choice is None
    return plain.config.response_format["schema"]


def fits(answer, schema):
    return jsonschema.Draft202012Validator(schema).is_valid(answer)


def test_a_request_without_tools_stays_as_it_is():
    made = request(temperature=0.0)
    assert as_schema(made) == (made, False)


def test_tools_that_may_not_be_used_are_taken_away():
    plain, holds_calls = as_schema(request(tools=TOOLS, tool_choice=lm15.ToolChoice(mode="none")))
    assert plain.tools == () and plain.config.response_format is None and not holds_calls


def test_auto_allows_calls_or_text():
    schema = schema_of()
    assert fits({"tool_calls": [CALL]}, schema)
    assert fits({"text": "hello"}, schema)
    assert not fits({"tool_calls": []}, schema)
    assert not fits({"tool_calls": [{**CALL, "name": "get_news"}]}, schema)
    assert not fits({"tool_calls": [{"name": "get_weather", "arguments": {}}]}, schema)
    assert not fits({"tool_calls": [CALL] * (MAX_CALLS + 1)}, schema)


def test_required_forces_a_call():
    schema = schema_of(tool_choice=lm15.ToolChoice(mode="required"))
    assert fits({"tool_calls": [CALL, CALL]}, schema)
    assert not fits({"text": "hello"}, schema)


def test_only_allowed_tools_and_only_one_call_if_so_asked():
    choice = lm15.ToolChoice(mode="required", allowed=("get_time",), parallel=False)
    schema = schema_of(tool_choice=choice)
    timed = {**CALL, "name": "get_time"}
    assert fits({"tool_calls": [timed]}, schema)
    assert not fits({"tool_calls": [CALL]}, schema)
    assert not fits({"tool_calls": [timed, timed]}, schema)


def test_the_system_text_lists_the_tools_after_the_callers_own():
    plain, _ = as_schema(request(tools=TOOLS, system=(lm15.TextPart("Be brief."),)))
    assert plain.system.startswith("Be brief.\n\nTools:\n- get_weather: Weather of a city arguments: {")
    assert '{"text":...}' in plain.system
    plain, _ = as_schema(request(tools=TOOLS, tool_choice=lm15.ToolChoice(mode="required")))
    assert plain.system.startswith("Tools:") and '{"text":...}' not in plain.system


def test_built_in_tools_are_refused():
    with pytest.raises(lm15.UnsupportedFeatureError, match="built-in tools"):
        as_schema(request(tools=[lm15.BuiltinTool(name="web_search")]))


def test_calls_come_back_as_calls():
    answer = from_answer(response(json.dumps({"tool_calls": [CALL, CALL]})))
    parts = answer.message.parts
    assert [(part.name, part.input) for part in parts] == [("get_weather", {"city": "Paris"})] * 2
    assert len({part.id for part in parts}) == 2
    assert answer.finish_reason == "tool_call"


def test_text_comes_back_as_text():
    answer = from_answer(response('{"text":"It is sunny."}'))
    assert answer.message.text == "It is sunny." and answer.finish_reason == "stop"


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[1]",
        '"x"',
        '{"tool_calls":null}',
        '{"tool_calls":[1]}',
        '{"tool_calls":[{"name":"get_weather"}]}',
        '{"tool_calls":[{"name":"get_weather","arguments":"Paris"}]}',
        '{"tool_calls":[{"name":null,"arguments":{}}]}',
        '{"tool_calls":[]}',
    ],
)
def test_an_answer_outside_the_schema_is_left_to_the_callers_parser(text):
    made = response(text)
    assert from_answer(made) == made


def test_a_cut_off_answer_is_not_read():
    made = response('{"tool_calls":[{"name":"get', finish_reason="length")
    assert from_answer(made) == made
