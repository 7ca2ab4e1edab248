"""The interpreters: what the LM reads, and what becomes of its answer."""

from __future__ import annotations

import json

import dspy
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_lm import Script, lm_of
from tag_world import THAI, THAI_ANGLE, TOOLS

from prefine_dspy.adapter import answer_schema
from prefine_dspy.interpreter import (
    NO_INSTRUCTIONS,
    Interpreter,
    TaggedInterpreter,
    TaggingInterpreter,
    instruction_lines,
    interpreted,
    with_tools,
)
from prefine_dspy.parsing import Dropped
from prefine_dspy.signatures import Interpret, InterpretTagged, TagAndInterpret
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.types import Query, ToolCall

REQUEST = InstructedQuery(
    query=Query.of("Find me a restaurant in Porto with Thai food."),
    applicable=(StandingInstruction(id="1", text=THAI.text),),
)
ARGUMENTS = {"city": "Porto", "cuisine": "Thai", "price_range": "inexpensive"}
ANSWER = {"calls": [{"function": "GetRestaurants", "arguments": ARGUMENTS}]}
CALL = ToolCall(name="GetRestaurants", arguments=ARGUMENTS)


def asked(module, answer, request=REQUEST, **more):
    script = Script([answer])
    with dspy.context(lm=lm_of(script)):
        return module(request=request, tools=TOOLS, **more), script


def test_instructions_and_dialogue_become_calls_with_one_lm_call():
    prediction, script = asked(Interpreter(), ANSWER)
    assert prediction.calls == [CALL]
    assert not prediction.parse_failed and not prediction.problems
    (request,) = script.requests
    assert TOOLS.prompt_text() in request.system
    assert request.messages[-1].text == f"standing: - {THAI.text}\n\nquery: User: {REQUEST.query.turns[0].text}"


def test_a_prompt_begins_the_same_for_every_request():
    other = InstructedQuery(query=Query.of("A salon, please."))
    prompts = [asked(Interpreter(), ANSWER, request)[1].requests[0] for request in (REQUEST, other)]
    assert prompts[0].system == prompts[1].system
    assert f"standing: {NO_INSTRUCTIONS}" in prompts[1].messages[-1].text


def test_tags_are_read_in_place_of_the_instructions():
    prediction, script = asked(TaggedInterpreter(), ANSWER, tags=[THAI_ANGLE])
    assert prediction.calls == [CALL]
    text = script.requests[0].messages[-1].text
    assert f"tagged: - {THAI_ANGLE}" in text and f"- {THAI.text}" not in text


def test_words_that_only_a_tagger_wrote_are_not_readable():
    invented = {"calls": [{"function": "GetRestaurants", "arguments": {"restaurant_name": "Chez Nous"}}]}
    prediction, _ = asked(TaggedInterpreter(), invented, tags=["<a:GET_RESTAURANTS> Chez Nous</a>"])
    assert prediction.calls == [ToolCall(name="GetRestaurants")]
    assert prediction.problems == [Dropped("not_grounded", "GetRestaurants", "restaurant_name", "Chez Nous")]


def test_tags_may_be_part_of_the_answer():
    prediction, _ = asked(TaggingInterpreter(), {"tagged": [THAI_ANGLE], **ANSWER})
    assert prediction.calls == [CALL]
    assert prediction.tags == [THAI_ANGLE]


def test_line_breaks_in_an_instruction_cannot_make_another_one():
    assert instruction_lines(["Thai\n- and cheap", "x"]) == "- Thai - and cheap\n- x"


def test_the_grammar_knows_no_other_functions_and_arguments():
    """Schema-constrained output cannot hold an invented function, argument or member of a closed set."""
    for base in (Interpret, InterpretTagged, TagAndInterpret):
        schema = answer_schema(with_tools(base, TOOLS))
        more = {"tagged": []} if base is TagAndInterpret else {}
        jsonschema.validate({**more, **ANSWER}, schema)
        for wrong in (
            {"function": "GetTrains", "arguments": {}},
            {"function": "GetRestaurants", "arguments": {"pets_welcome": "True"}},
            {"function": "GetRestaurants", "arguments": {"price_range": "cheapish"}},
            {"function": "GetRestaurants", "arguments": {}, "more": 1},
        ):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({**more, "calls": [wrong]}, schema)


def test_arguments_stand_in_the_order_of_the_catalogue():
    schema = answer_schema(with_tools(Interpret, TOOLS))
    item = next(
        one
        for one in schema["properties"]["calls"]["items"]["anyOf"]
        if one["properties"]["function"]["const"] == "GetRestaurants"
    )
    assert list(item["properties"]["arguments"]["properties"]) == [
        p.name for p in TOOLS.get("GetRestaurants").parameters
    ]


@pytest.mark.parametrize(
    "answer, kind",
    [
        ([{"function": "GetTrains", "arguments": {"to": "Porto"}}], "unknown_function"),
        ([{"function": "GetRestaurants", "arguments": {"stars": "3"}}], "unknown_argument"),
        ([{"function": "GetRestaurants", "arguments": {"price_range": "a steal"}}], "value_not_allowed"),
        ([{"function": "GetRestaurants", "arguments": {"restaurant_name": "Nowhere"}}], "not_grounded"),
    ],
)
def test_without_a_grammar_the_same_is_dropped_and_counted(answer, kind):
    prediction = interpreted(answer, TOOLS, "User: Thai in Porto")
    assert [problem.kind for problem in prediction.problems] == [kind]
    assert not any(call.arguments for call in prediction.calls)


def test_the_same_call_twice_counts_once():
    prediction = interpreted(ANSWER["calls"] * 2, TOOLS, "Thai in Porto")
    assert prediction.calls == [CALL]


def test_two_calls_of_one_function_stay_apart():
    both = [{"function": "GetRestaurants", "arguments": {"cuisine": one}} for one in ("Thai", "Greek")]
    assert len(interpreted(both, TOOLS, "Thai or Greek").calls) == 2


@pytest.mark.parametrize("answer", ["", "I cannot help with that.", '{"calls": ', "[[[["])
def test_an_answer_without_a_call_is_a_failure_and_its_text_is_kept(answer):
    script = Script([answer], schema=False)
    with dspy.context(lm=lm_of(script)):
        prediction = Interpreter()(request=REQUEST, tools=TOOLS)
    assert prediction.calls == [] and prediction.parse_failed
    assert isinstance(prediction.raw, str)


def test_an_answer_outside_of_its_field_is_still_read():
    script = Script([f"Sure: {json.dumps(ANSWER['calls'])}"], schema=False)
    with dspy.context(lm=lm_of(script)):
        assert Interpreter()(request=REQUEST, tools=TOOLS).calls == [CALL]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["GetRestaurants", "function"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["function", "arguments", "cuisine", "calls"]) | st.text(max_size=5), inner)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(json_values)
def test_no_answer_raises(answer):
    prediction = interpreted(answer, TOOLS, "Thai in Porto")
    for call in prediction.calls:
        assert not TOOLS.problems(call)


DEEP = '{"calls":' + "[" * 10_000 + "]" * 10_000 + ',"tagged":[]}'


@pytest.mark.parametrize("schema", [True, False])
def test_an_answer_nested_beyond_reading_is_a_failure(schema):
    script = Script(lambda _: DEEP, schema=schema)
    with dspy.context(lm=lm_of(script)):
        prediction = Interpreter()(request=REQUEST, tools=TOOLS)
    assert prediction.calls == [] and prediction.parse_failed


def test_half_a_character_in_an_instruction_is_a_question_mark():
    assert instruction_lines(["a\ud800 b"]) == "- a? b"
