"""What a request speaks of may be answered; closed values that it does not speak of cannot be written."""

from prefine_dspy.call_schema import calls_type
from prefine_dspy.narrowing import narrowed
from prefine_dspy.tools import Catalogue, Parameter, Tool

MARKERS = ("any", "?")
TOOLS = Catalogue(
    [
        Tool(
            name="GetFood",
            parameters=(
                Parameter(name="town", copied=True, markers=MARKERS),
                Parameter(
                    name="price_range", enum=("cheap", "moderate", "very expensive"), copied=True, markers=MARKERS
                ),
                Parameter(name="has_live_music", type="boolean", copied=True, markers=MARKERS),
                Parameter(name="fare", enum=("Economy", "Flexible"), copied=True),
                Parameter(name="kind", enum=("a", "b"), required=True, copied=True),
            ),
        )
    ]
)


def left(read):
    (tool,) = narrowed(TOOLS, read)
    return {one.name: (one.choices(), one.markers) for one in tool.parameters}


def test_of_unspoken_closed_arguments_only_markers_are_left_and_required_ones_stay():
    found = left("I am hungry")
    assert found == {
        "town": ((), MARKERS),
        "price_range": (MARKERS, ()),
        "has_live_music": (MARKERS, ()),
        "kind": (("a", "b"), ()),
    }


def test_a_value_is_spoken_of_by_any_of_its_words_in_another_form():
    assert left("somewhere moderately dear")["price_range"] == (("moderate",), MARKERS)
    assert left("an expensive place, flexibly")["fare"] == (("Flexible",), ())


def test_a_yes_or_no_argument_is_spoken_of_by_its_name():
    assert left("I only eat where there is music")["has_live_music"] == (("True", "False"), MARKERS)


def test_the_grammar_is_that_of_the_narrowed_catalogue():
    schema = calls_type(narrowed(TOOLS, "I am hungry")).__get_pydantic_json_schema__(None, None)
    arguments = schema["items"]["anyOf"][0]["properties"]["arguments"]["properties"]
    assert set(arguments) == {"town", "price_range", "has_live_music", "kind"}
    assert arguments["price_range"] == {"type": "string", "enum": ["any", "?"]}


def test_values_that_may_be_inferred_stay():
    tools = Catalogue([Tool(name="GetFood", parameters=(Parameter(name="price", enum=("inexpensive", "dear")),))])
    assert narrowed(tools, "somewhere cheap").get("GetFood").parameters[0].choices() == ("inexpensive", "dear")
