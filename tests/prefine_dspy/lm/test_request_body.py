import dataclasses
import json

import pytest
from dspy import lm15
from made_requests import function_tool, request

from prefine_dspy.lm import request_body
from prefine_dspy.lm.request_body import chat_body

MAPPED = {
    "max_tokens": (7, {"max_tokens": 7}),
    "temperature": (0.0, {"temperature": 0.0}),
    "top_p": (0.9, {"top_p": 0.9}),
    "top_k": (5, {"top_k": 5}),
    "stop": (("a", "b"), {"stop": ["a", "b"]}),
    "seed": (3, {"seed": 3}),
    "frequency_penalty": (0.5, {"frequency_penalty": 0.5}),
    "presence_penalty": (0.25, {"presence_penalty": 0.25}),
    "logprobs": (2, {"logprobs": True, "top_logprobs": 2}),
    "response_format": ({"type": "json_object"}, {"response_format": {"type": "json_object"}}),
    "extensions": ({"logit_bias": {"5": -100}}, {"logit_bias": {"5": -100}}),
}
REFUSED = {
    "reasoning": lm15.Reasoning(effort="low"),
    "cache": lm15.CacheConfig(),
    "service_tier": "flex",
    "store": True,
    "user_id": "someone",
    "probabilities": object(),
}
ELSEWHERE = {"tool_choice"}  # taken away with the tools, by `tool_calls.as_schema`


def body(*messages, **options):
    return chat_body(request(*messages, **options))


def forced(**values):
    """A request with config values that DSPy itself would check first."""
    made = request()
    for name, value in values.items():
        object.__setattr__(made.config, name, value)
    return made


def test_every_field_of_dspys_config_is_mapped_or_refused():
    fields = {field.name for field in dataclasses.fields(lm15.Config)}
    assert fields == set(MAPPED) | set(REFUSED) | ELSEWHERE


@pytest.mark.parametrize("name", MAPPED)
def test_mapped_fields(name):
    value, mapped = MAPPED[name]
    expected = {"messages": [{"role": "user", "content": "hi"}], "cache_prompt": True, **mapped}
    assert body(**{name: value}) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_refused_fields(name):
    with pytest.raises(lm15.UnsupportedFeatureError, match=f"does not support config.{name}"):
        chat_body(forced(**{name: REFUSED[name]}))


def test_unknown_extensions_are_refused_unless_empty():
    assert "verbosity" not in body(extensions={"metadata": {}, "prediction": None})
    with pytest.raises(lm15.UnsupportedFeatureError, match="verbosity"):
        body(extensions={"logit_bias": {"5": 1}, "verbosity": "low"})


def test_zero_log_probabilities_are_those_of_the_chosen_tokens():
    assert body(logprobs=0)["top_logprobs"] == 0


def test_a_schema_becomes_a_grammar(monkeypatch):
    monkeypatch.setattr(request_body, "compact_grammar", lambda schema: f"grammar of {json.dumps(schema)}")
    made = body(response_format={"type": "json_schema", "name": "x", "strict": True, "schema": {"type": "object"}})
    assert made["grammar"] == 'grammar of {"type": "object"}'
    assert "response_format" not in made


def test_a_format_that_dspy_does_not_know_yet_is_refused():
    with pytest.raises(lm15.UnsupportedFeatureError, match="response_format 'lark'"):
        chat_body(forced(response_format={"type": "lark"}))


def test_tools_must_have_been_turned_into_a_schema():
    with pytest.raises(lm15.UnsupportedFeatureError, match="tools"):
        body(tools=[function_tool()])


@pytest.mark.parametrize("system", ["Be brief.", (lm15.TextPart("Be "), lm15.TextPart("brief."))])
def test_the_system_text_is_the_first_message(system):
    assert body(system=system)["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_conversation_with_a_tool():
    call = lm15.ToolCallPart(id="c1", name="get_weather", input={"city": "Zürich"})
    messages = body(
        lm15.Message.developer("Be brief."),
        lm15.Message.user([lm15.TextPart("How is it? "), lm15.DataPart({"city": "日本"})]),
        lm15.Message.assistant([lm15.ThinkingPart("hm"), lm15.TextPart("I look."), call]),
        lm15.Message.tool({"c1": "sunny"}),
    )["messages"]
    function = {"name": "get_weather", "arguments": '{"city": "Zürich"}'}
    assert messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": 'How is it? {"city": "日本"}'},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]


def test_several_results_are_several_messages():
    messages = body(lm15.Message.user("?"), lm15.Message.tool({"c1": "one", "c2": "two"}))["messages"]
    assert [message.get("tool_call_id") for message in messages] == [None, "c1", "c2"]


def test_pictures_are_refused():
    picture = lm15.ImagePart(url="https://example.org/x.png")
    with pytest.raises(lm15.UnsupportedFeatureError, match="image parts in a user message"):
        body(lm15.Message.user([lm15.TextPart("What is it?"), picture]))
