import json

import jsonschema
import pytest
from pydantic import TypeAdapter

from prefine_dspy.call_schema import UNSPECIFIED, call_type, calls_type, stated_schema, value_schema
from prefine_dspy.grounding import ungrounded
from prefine_dspy.parsing_fit import Dropped, fit_value
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import ToolCall

TOOLS = Catalogue(
    [
        Tool(
            name="GetFlights",
            parameters=(
                Parameter(name="flight_class", enum=("Economy", "Business")),
                Parameter(name="destination", enum=("Paris",), open=True),
                Parameter(name="refundable", type="boolean"),
                Parameter(name="passengers", type="integer"),
            ),
        ),
        Tool(
            name="Pay",
            parameters=(
                Parameter(name="account", enum=("checking", "savings"), required=True),
                Parameter(name="amount", type="number", required=True),
                Parameter(name="to", json_schema={"type": "array", "items": {"type": "string"}}, type="array"),
            ),
        ),
        Tool(name="GetTime"),
    ]
)
SCHEMA = TypeAdapter(call_type(TOOLS)).json_schema()
NOTHING = {
    "flight_class": UNSPECIFIED,
    "destination": UNSPECIFIED,
    "refundable": UNSPECIFIED,
    "passengers": UNSPECIFIED,
}
PAY = {"account": "savings", "amount": 2.5, "to": UNSPECIFIED}


def flights(**changes):
    return {"function": "GetFlights", "arguments": {**NOTHING, **changes}}


def pay(**changes):
    return {"function": "Pay", "arguments": {**PAY, **changes}}


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "call",
    [
        flights(),
        flights(flight_class="Business", destination="New York", refundable="False", passengers=2),
        pay(),
        pay(to=["me", "you"]),
        {"function": "GetTime", "arguments": {}},
    ],
)
def test_calls_that_fit(call):
    jsonschema.validate(call, SCHEMA)


@pytest.mark.parametrize(
    "call",
    [
        {"function": "GetHotels", "arguments": {}},
        {"function": "GetTime", "arguments": {"city": "Paris"}},
        {"function": "GetTime"},
        {"function": "GetFlights", "arguments": {"flight_class": "Economy"}},
        flights(flight_class="First"),
        flights(refundable=True),
        flights(passengers="two"),
        flights(colour="red"),
        {**flights(), "note": "x"},
        pay(account=UNSPECIFIED),
        pay(amount=UNSPECIFIED),
        pay(to="me"),
    ],
    ids=json.dumps,
)
def test_calls_that_do_not_fit(call):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(call, SCHEMA)


def test_an_open_enum_only_suggests():
    jsonschema.validate("Ouagadougou", value_schema(Parameter(name="destination", enum=("Paris",), open=True)))


@pytest.mark.parametrize("text", [",5", " Paris", "", "x" * 81, ": a", "<city>"])
def test_text_has_no_leading_punctuation_and_an_end(text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(text, value_schema(Parameter(name="destination")))


@pytest.mark.parametrize("text", ["Zürich", "日本", "5", "x" * 80, '"Heroes"', "-1"])
def test_text_that_is_allowed(text):
    jsonschema.validate(text, value_schema(Parameter(name="destination")))


def test_arguments_are_decided_in_the_catalogues_order():
    first = SCHEMA["anyOf"][0]["properties"]
    assert list(first) == ["function", "arguments"]
    assert list(first["arguments"]["properties"]) == list(NOTHING)


@pytest.mark.parametrize("answer", [None, [], "GetTime()", {"function": "GetHotels"}])
def test_the_validator_tolerates_anything(answer):
    assert TypeAdapter(call_type(TOOLS)).validate_python(answer) == answer


def test_two_catalogues_are_two_types():
    other = TypeAdapter(call_type(Catalogue([Tool(name="GetTime")]))).json_schema()
    assert other["anyOf"] == [SCHEMA["anyOf"][2]]


CALLS = TypeAdapter(calls_type(TOOLS, at_most=2)).json_schema()


def calls(*arguments):
    return [{"function": "GetFlights", "arguments": one} for one in arguments]


@pytest.mark.parametrize("answer", [calls({}), calls({"passengers": 1}), calls({"destination": "Oslo"}, {})])
def test_of_several_calls_each_holds_what_is_given(answer):
    jsonschema.validate(answer, CALLS)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        calls({}, {}, {}),
        calls({"flight_class": UNSPECIFIED}),
        calls({"flight_class": "Sofa"}),
        calls({"made": "up"}),
    ],
    ids=["none", "too many", "unspecified", "outside of a closed set", "unknown argument"],
)
def test_several_calls_that_do_not_fit(answer):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, CALLS)


MARKED = [
    Parameter(name="flight_class", enum=("Economy", "Business"), markers=("any", "?")),
    Parameter(name="destination", markers=("any", "?")),
    Parameter(name="passengers", type="integer", markers=("any", "?")),
    Parameter(name="refundable", type="boolean", markers=("any", "?")),
]


@pytest.mark.parametrize("parameter", MARKED, ids=lambda one: one.name)
@pytest.mark.parametrize("marker", ["any", "?"])
def test_a_marker_stands_wherever_a_value_may(parameter, marker):
    jsonschema.validate(marker, stated_schema(parameter))
    jsonschema.validate(marker, value_schema(parameter))
    assert fit_value(marker, parameter) == marker
    tools = Catalogue([Tool(name="GetFlights", parameters=(parameter,))])
    call = ToolCall(name="GetFlights", arguments={parameter.name: marker})
    assert tools.problems(call) == [] and ungrounded(call, tools, "Book a flight", "") == []


def test_without_markers_such_words_are_placeholders():
    assert isinstance(fit_value("any", Parameter(name="destination")), Dropped)
