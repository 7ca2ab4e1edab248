import jsonschema
import pytest
from foreign_tools import CHAT, book_flight, dspy_tool
from small_world import TOOLS

from prefine_dspy.call_schema import TEXT_VALUE, value_schema
from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.interop.json_schema import constraint
from prefine_dspy.interop.prompted import prompted


@pytest.fixture(params=[CHAT, book_flight, "dspy"], ids=["chat", "function", "dspy"])
def asked(request):
    tool = dspy_tool() if request.param == "dspy" else request.param
    return prompted(catalogue([tool])).get("book_flight")


def test_nothing_is_forced(asked):
    for parameter in asked.parameters:
        jsonschema.validate("unspecified", value_schema(parameter))


def test_only_keywords_of_strict_modes_are_sent(asked):
    text = str([value_schema(one) for one in asked.parameters])
    assert not [word for word in ("default", "title", "description", "$ref", "oneOf") if f"'{word}'" in text]


def test_nested_objects_are_closed_and_decided(asked):
    contact = asked.parameter("contact").json_schema
    assert contact["required"] == ["city", "floor"]
    assert contact["additionalProperties"] is False
    assert contact["properties"]["city"]["pattern"] == TEXT_VALUE
    jsonschema.validate({"city": "Rome", "floor": None}, contact)


def test_plain_text_with_a_default_keeps_the_rule_for_text(asked):
    assert value_schema(asked.parameter("currency")) == {"type": "string", "pattern": TEXT_VALUE}


def test_the_prompt_names_what_is_inside(asked):
    line = asked.prompt_line()
    assert "contact: object (an object with city, floor)" in line
    assert "any of vegan|halal" in line
    assert "\n" not in line


def test_equal_tools_share_one_catalogue():
    assert prompted(catalogue([CHAT])) is prompted(catalogue([CHAT]))
    assert prompted(TOOLS).get("GetFlights").parameters == TOOLS.get("GetFlights").parameters


def test_patterns_that_grammars_do_not_know_are_left_to_the_check_afterwards():
    assert constraint({"type": "string", "pattern": "^(?!x)"})["pattern"] == TEXT_VALUE
    assert constraint({"type": "string", "pattern": "^[A-Z]{3}$"})["pattern"] == "^[A-Z]{3}$"
    assert constraint({"type": "string", "format": "email"})["pattern"] == TEXT_VALUE
