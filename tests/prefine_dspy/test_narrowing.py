"""What a request speaks of may be answered; what it does not cannot be written."""

from prefine_dspy.call_schema import calls_type
from prefine_dspy.narrowing import narrowed
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import Query, Turn

MARKERS = ("any", "?")
TOOLS = Catalogue(
    [
        Tool(
            name="GetFood",
            parameters=(
                Parameter(name="town", markers=MARKERS),
                Parameter(
                    name="price_range", enum=("cheap", "moderate", "very expensive"), copied=True, markers=MARKERS
                ),
                Parameter(name="has_live_music", type="boolean", copied=True, markers=MARKERS),
                Parameter(name="kind", enum=("a", "b"), required=True, copied=True),
            ),
        )
    ]
)


def left(*texts, standing=""):
    roles = ("user", "assistant")
    query = Query(id="q", turns=tuple(Turn(role=roles[at % 2], text=text) for at, text in enumerate(texts)))
    (tool,) = narrowed(TOOLS, query, f"{standing}\n{' '.join(texts)}")
    return {one.name: (one.choices(), one.markers) for one in tool.parameters}


def test_closed_values_that_nothing_speaks_of_are_gone_and_required_ones_stay():
    assert left("I am hungry") == {"town": ((), ("any",)), "kind": (("a", "b"), ())}


def test_a_value_is_spoken_of_by_any_of_its_words_in_another_form():
    assert left("somewhere moderately dear")["price_range"] == (("moderate",), ("any",))


def test_an_instruction_speaks_as_well():
    found = left("I am hungry", standing="I only eat where there is music")
    assert found["has_live_music"] == (("True", "False"), ("any",))


def test_a_question_is_left_where_its_argument_is_named():
    found = left("What town is it in, and what price?")
    assert found["town"] == ((), MARKERS)
    assert found["price_range"] == (MARKERS, ())  # nothing but the markers


def test_a_question_to_an_offer_may_be_about_anything():
    assert left("Thai food", "I found one.", "Where is it?")["has_live_music"] == (("?",), ())


def test_the_grammar_is_that_of_the_narrowed_catalogue():
    (tool,) = narrowed(TOOLS, Query.of("I am hungry"), "I am hungry")
    schema = calls_type(Catalogue([tool])).__get_pydantic_json_schema__(None, None)
    assert set(schema["items"]["anyOf"][0]["properties"]["arguments"]["properties"]) == {"town", "kind"}


def test_values_that_may_be_inferred_stay():
    tools = Catalogue([Tool(name="GetFood", parameters=(Parameter(name="price", enum=("inexpensive", "dear")),))])
    (tool,) = narrowed(tools, Query.of("somewhere cheap"), "somewhere cheap")
    assert tool.parameters[0].choices() == ("inexpensive", "dear")
