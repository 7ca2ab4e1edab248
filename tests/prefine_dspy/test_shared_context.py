"""Calls of one request: a concert and a restaurant after it, two kinds of food in one town."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefine_dspy.shared_context import is_said, link, without_idle_questions
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import Query, ToolCall, Turn

MARKERS = ("any", "?")


def parameter(name, context=""):
    return Parameter(name=name, markers=MARKERS, context=context)


TOOLS = Catalogue(
    [
        Tool(
            name="GetConcerts", parameters=(parameter("artist"), parameter("city", "place"), parameter("day", "date"))
        ),
        Tool(name="GetRooms", parameters=tuple(map(parameter, ("number_of_rooms", "room_name", "good_for_kids")))),
        Tool(
            name="GetFood",
            parameters=(
                parameter("cuisine"),
                parameter("town", "place"),
                parameter("date", "date"),
                parameter("phone_number"),
            ),
        ),
    ]
)
CONCERT = ToolCall.of("GetConcerts", artist="Nina", city="Ghent", day="Friday")


def query(*texts):
    roles = ("user", "assistant")
    return Query(id="q", turns=tuple(Turn(role=roles[at % 2], text=text) for at, text in enumerate(texts)))


def linked(*calls, said="Find me a concert"):
    return link(calls, TOOLS, query(said))


def test_context_is_taken_over_in_the_catalogues_order():
    assert linked(CONCERT, ToolCall.of("GetFood", cuisine="Thai"))[1].arguments == {
        "cuisine": "Thai",
        "town": "Ghent",
        "date": "Friday",
    }


def test_what_a_call_says_itself_is_never_changed():
    elsewhere = ToolCall.of("GetFood", cuisine="Thai", town="Bruges", date="Monday")
    assert linked(CONCERT, elsewhere) == [CONCERT, elsewhere]


def test_two_places_are_no_common_place():
    concerts = [CONCERT, CONCERT.model_copy(update={"arguments": {**CONCERT.arguments, "city": "Bruges"}})]
    assert "town" not in linked(*concerts, ToolCall.of("GetFood"))[2].arguments


def test_a_marker_is_no_value():
    assert linked(ToolCall.of("GetConcerts", city="?"), ToolCall.of("GetFood"))[1].arguments == {}


def test_calls_of_a_function_share_what_the_dialogue_says():
    calls = [ToolCall.of("GetFood", cuisine="Thai", phone_number="12"), ToolCall.of("GetFood", cuisine="Greek")]
    assert linked(*calls, said="Food! My number is 12")[1].arguments == {"cuisine": "Greek", "phone_number": "12"}
    assert linked(*calls, said="Food!") == calls  # an instruction's value may belong to its alternative only


def test_a_part_of_a_word_is_not_said():
    calls = [ToolCall.of("GetFood", cuisine="Thai", phone_number="1"), ToolCall.of("GetFood", cuisine="Greek")]
    assert linked(*calls, said="Food for the 10th") == calls
    assert linked(*calls, said="My number: 1.")[1].arguments["phone_number"] == "1"
    assert not is_said("true", "is that true") and not is_said(" ", "a b")


def test_one_call_is_left_alone():
    assert linked(CONCERT) == [CONCERT]


def questions(call, *texts):
    calls, dropped = without_idle_questions([call], TOOLS, query(*texts))
    return calls[0].arguments, dropped


def test_a_question_that_nobody_asked_is_dropped():
    assert questions(ToolCall.of("GetFood", town="?", cuisine="Thai"), "I am hungry") == ({"cuisine": "Thai"}, 1)


def test_a_question_by_the_arguments_name_is_kept():
    assert questions(ToolCall.of("GetFood", phone_number="?"), "What is their number?") == ({"phone_number": "?"}, 0)


@pytest.mark.parametrize(
    ("argument", "text"),
    [("number_of_rooms", "The sea is what I think of"), ("room_name", "Any room"), ("good_for_kids", "I look for one")],
)
def test_a_word_that_tells_nothing_asks_for_nothing(argument, text):
    assert questions(ToolCall.of("GetRooms", **{argument: "?"}), text) == ({}, 1)


def test_what_asks_for_the_rest_of_a_name_is_kept():
    assert questions(ToolCall.of("GetRooms", number_of_rooms="?"), "Their number?") == ({"number_of_rooms": "?"}, 0)


def test_a_question_about_an_offer_is_kept():
    arguments, dropped = questions(ToolCall.of("GetFood", town="?"), "Thai food", "I found one.", "Where is it?")
    assert (arguments, dropped) == ({"town": "?"}, 0)


NAMES = st.sampled_from(["GetConcerts", "GetFood", "Unknown"])
ARGUMENTS = st.dictionaries(
    st.sampled_from(["city", "town", "cuisine", "day", "date", "made_up"]), st.sampled_from(["a", "b", "?", ""])
)
CALLS = st.lists(st.builds(lambda name, values: ToolCall(name=name, arguments=values), NAMES, ARGUMENTS), max_size=4)


@given(CALLS, st.text(max_size=20))
def test_linking_only_adds_and_twice_is_once(calls, said):
    once = link(calls, TOOLS, query(said))
    assert len(once) == len(calls)
    for before, after in zip(calls, once, strict=True):
        assert before.arguments.items() <= after.arguments.items()
    assert link(once, TOOLS, query(said)) == once
