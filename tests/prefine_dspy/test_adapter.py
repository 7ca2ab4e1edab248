import json
from typing import Literal

import dspy
import jsonschema
import pytest
from pydantic import BaseModel
from scripted_lm import Script, lm_of

from prefine_dspy.adapter import CompactAdapter, answer_schema


class Judge(dspy.Signature):
    """Judge the note."""

    note: str = dspy.InputField(desc="what was written")
    context: str = dspy.InputField()
    good: bool = dspy.OutputField()
    fault: Literal["none", "long"] = dspy.OutputField(desc="the main fault")
    advice: str = dspy.OutputField(max_length=20)


class Place(BaseModel):
    city: str


class Trip(dspy.Signature):
    """Plan."""

    wish: str = dspy.InputField()
    stops: list[Place] = dspy.OutputField()
    home: Place = dspy.OutputField()


ANSWER = {"good": True, "fault": "none", "advice": "go on"}


def asked(script_answer=ANSWER, signature=Judge, demos=(), script=None, **inputs):
    """The request that one call makes, and its prediction."""
    script = script or Script([script_answer])
    predict = dspy.Predict(signature)
    predict.demos = list(demos)
    with dspy.context(lm=lm_of(script), adapter=CompactAdapter()):
        prediction = predict(**inputs)
    return script.requests[-1], prediction


def test_the_system_text_is_task_inputs_and_answer():
    request, _ = asked(note="short", context="none")
    assert request.system == (
        "Judge the note.\n\nnote: what was written\n\n"
        'Answer with one line of JSON: {"good":true or false,"fault":(the main fault),"advice":...}'
    )


def test_the_system_text_is_the_same_for_every_item():
    script = Script(lambda _: ANSWER)
    for note in ("short", "a longer note\nof two lines", "日本 " * 50):
        asked(script=script, note=note, context=note)
    assert len({request.system for request in script.requests}) == 1


def test_inputs_are_blocks_in_the_signatures_order():
    request, _ = asked(context="two\nlines", note="one line")
    assert [message.text for message in request.messages] == ["note: one line\n\ncontext:\ntwo\nlines"]


def test_the_schema_goes_to_the_lm_and_not_into_the_prompt():
    request, prediction = asked(note="n", context="c")
    assert request.config.response_format["schema"] == answer_schema(Judge)
    assert "additionalProperties" not in request.system
    assert (prediction.good, prediction.fault, prediction.advice) == (True, "none", "go on")


def test_an_lm_without_schemas_is_asked_for_json():
    request, prediction = asked(script=Script([ANSWER], schema=False), note="n", context="c")
    assert request.config.response_format == {"type": "json_object"}
    assert prediction.good is True


def test_an_lm_without_formats_is_asked_in_words_only():
    script = Script(["Here it is: " + json.dumps(ANSWER)], schema=False)
    script.supported_params = frozenset({"temperature", "max_tokens"})
    request, prediction = asked(script=script, note="n", context="c")
    assert request.config.response_format is None
    assert prediction.advice == "go on"


def test_demonstrations_are_compact_and_in_the_form_of_the_answer():
    demo = dspy.Example(note="old", context="x", good=False, fault="long", advice="kürzer").with_inputs(
        "note", "context"
    )
    request, _ = asked(demos=[demo], note="n", context="c")
    roles = [message.role for message in request.messages]
    assert roles == ["user", "assistant", "user"]
    assert request.messages[0].text == "note: old\n\ncontext: x"
    assert request.messages[1].text == '{"good":false,"fault":"long","advice":"kürzer"}'
    jsonschema.validate(json.loads(request.messages[1].text), answer_schema(Judge))


def test_the_answers_schema_has_every_field_in_order_with_its_limit():
    schema = answer_schema(Judge)
    assert list(schema["properties"]) == schema["required"] == ["good", "fault", "advice"]
    assert schema["properties"]["advice"]["maxLength"] == 20
    jsonschema.validate(ANSWER, schema)
    for wrong in ({**ANSWER, "advice": "x" * 21}, {**ANSWER, "fault": "other"}, {**ANSWER, "more": 1}, {"good": True}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_nested_models_are_defined_where_they_are_referred_to():
    schema = answer_schema(Trip)
    jsonschema.validate({"stops": [{"city": "Oslo"}], "home": {"city": "Rome"}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"stops": [{"town": "Oslo"}], "home": {"city": "Rome"}}, schema)


def test_one_call_whether_the_answer_can_be_read_or_not():
    script = Script(["no JSON at all"])
    with pytest.raises(dspy.utils.exceptions.AdapterParseError):
        asked(script=script, note="n", context="c")
    assert len(script.requests) == 1
