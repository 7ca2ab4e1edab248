"""Instructions of a made-up user, with tags, and the calls that they mean."""

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_lm import Script, lm_of

from prefine_dspy.composition import TagAndCompose, compose
from prefine_dspy.composition.values import alike, called
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.tagging import parse_tags
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import Query, ToolCall

TOOLS = Catalogue(
    [
        Tool(
            name="GetFood",
            parameters=(
                Parameter(name="cuisine"),
                Parameter(name="place_name"),
                Parameter(name="town", context="place"),
                Parameter(name="price", enum=("cheap", "dear")),
                Parameter(name="has_music", type="boolean"),
            ),
        ),
        Tool(
            name="GetRooms",
            parameters=(
                Parameter(name="star_rating"),
                Parameter(name="number_of_beds", type="integer"),
                Parameter(name="city", context="place"),
                Parameter(name="film"),
            ),
        ),
        Tool(name="GetFilms", parameters=(Parameter(name="film"), Parameter(name="genre"))),
        Tool(name="GetShows", parameters=(Parameter(name="genre"), Parameter(name="hour"))),
    ]
)
FOOD = [ToolCall.of("GetFood")]
THAI = "<a:GET_FOOD>I like <sl:CUISINE>Thai</sl> food</a>"


def composed(*tags, requested=FOOD, said="I am hungry"):
    return compose(requested, [parse_tags(one, TOOLS).tagged for one in tags], TOOLS, Query.of(said))


def test_a_preference_fills_an_argument():
    assert composed(THAI) == [ToolCall.of("GetFood", cuisine="Thai")]


def test_the_dialogue_wins():
    assert composed(THAI, requested=[ToolCall.of("GetFood", cuisine="Greek")]) == [
        ToolCall.of("GetFood", cuisine="Greek")
    ]


def test_a_condition_is_fulfilled_and_a_chain_of_them():
    chain = (
        "<a:GET_FOOD>At <sl:PLACE_NAME>Baan</sl> I want <sl:HAS_MUSIC>live music</sl></a>",
        "<a:GET_FOOD>For <sl:CUISINE>thai</sl> go to <sl:PLACE_NAME>Baan</sl></a>",
    )
    assert composed(THAI, *chain) == [ToolCall.of("GetFood", cuisine="thai", place_name="Baan", has_music="True")]


def test_a_condition_that_does_not_hold_says_nothing():
    other = "<a:GET_FOOD>For <sl:CUISINE>Greek</sl> go to <sl:PLACE_NAME>Ouzo</sl></a>"
    assert composed(THAI, other) == [ToolCall.of("GetFood", cuisine="Thai")]


def test_a_second_preference_is_a_call_of_its_own_and_conditions_belong_to_one():
    calls = composed(
        THAI,
        "<a:GET_FOOD>I also like <sl:CUISINE>Greek</sl></a>",
        "<a:GET_FOOD>For <sl:CUISINE>Thai</sl> go to <sl:PLACE_NAME>Baan</sl></a>",
        "<a:GET_FOOD>Always <sl:PRICE>cheap</sl></a>",
        requested=[ToolCall.of("GetFood", town="Ghent")],
        said="Food in Ghent",
    )
    assert calls == [
        ToolCall.of("GetFood", cuisine="Thai", place_name="Baan", town="Ghent", price="cheap"),
        ToolCall.of("GetFood", cuisine="Greek", town="Ghent", price="cheap"),
    ]


def test_alternatives_in_one_sentence():
    calls = composed("<a:GET_FOOD>My place is <sl:PLACE_NAME>Baan or Ouzo</sl></a>")
    assert [call.arguments["place_name"] for call in calls] == ["Baan", "Ouzo"]


def test_a_second_function_is_called_with_what_is_common():
    calls = composed(
        "Look at <a:GET_FOOD>food</a> and <a:GET_ROOMS>rooms</a>",
        "<a:GET_ROOMS>I want a <sl:STAR_RATING>two-star</sl> hotel</a>",
        requested=[ToolCall.of("GetFood", town="Ghent")],
        said="Food in Ghent",
    )
    assert calls[1] == ToolCall.of("GetRooms", star_rating="2", city="Ghent")


def test_an_instruction_tagged_for_a_neighbour_is_for_the_called_function():
    calls = composed("<a:GET_FILMS>I like <sl:GENRE>dramas</sl></a>", requested=[ToolCall.of("GetShows")])
    assert calls == [ToolCall.of("GetShows", genre="dramas")]


def test_an_instruction_about_something_else_adds_its_function():
    calls = composed("<a:GET_FILMS>I like <sl:FILM>Alien</sl></a>", requested=[ToolCall.of("GetShows")])
    assert calls == [ToolCall.of("GetShows"), ToolCall.of("GetFilms", film="Alien")]


@pytest.mark.parametrize(
    ("argument", "piece", "values"),
    [
        ("star_rating", "Hotels with a 1-star rating", ["1"]),
        ("star_rating", "4.6.", ["4.6"]),
        ("number_of_beds", "three beds", ["3"]),
        ("city", "London or Paris", ["London", "Paris"]),
        ("film", "Trevor Nunn's", ["Trevor Nunn"]),
        ("film", "2001", ["2001"]),
        ("film", " . ", []),
    ],
)
def test_values_in_the_catalogues_form(argument, piece, values):
    assert called(TOOLS.get("GetRooms").parameter(argument), piece) == values


@pytest.mark.parametrize(("piece", "value"), [("live music", "True"), ("don't play music", "False")])
def test_booleans_are_said_in_words(piece, value):
    assert called(TOOLS.get("GetFood").parameter("has_music"), piece) == [value]


@pytest.mark.parametrize(("a", "b"), [("dramas", "Drama"), ("worship", "Place of Worship"), ("comedies", "comedy")])
def test_alike(a, b):
    assert alike(a, b) and alike(b, a)


@pytest.mark.parametrize(("a", "b"), [("Thai", "Greek"), ("12", "13"), ("", "x"), ("2001", "2010")])
def test_not_alike(a, b):
    assert not alike(a, b)


TAGS = st.lists(
    st.sampled_from([THAI, "<a:GET_X><sl:Y>z</sl></a>", "", "<a:", "<sl:CUISINE>or</sl>"]) | st.text(), max_size=5
)


@given(TAGS, st.text())
def test_any_tags_compose_to_calls_that_fit(tags, said):
    calls = composed(*tags, said=said)
    assert calls and all(not TOOLS.problems(call) for call in calls)


def test_the_program_tags_reads_and_composes():
    def answer(request):
        if "tags" in str(request.config.response_format["schema"]["properties"]):
            return {"tags": [{"GetFood": [{"cuisine": "Thai"}]}]}
        assert "Thai" not in request.messages[-1].text  # the reader sees the dialogue alone
        return {"calls": [{"function": "GetFood", "arguments": {"town": "Ghent"}}]}

    instruction = StandingInstruction(id="0", text="I like Thai food")
    request = InstructedQuery(query=Query.of("Food in Ghent"), applicable=(instruction,))
    with dspy.context(lm=lm_of(Script(answer))):
        prediction = TagAndCompose()(request=request, tools=TOOLS)
    assert prediction.calls == [ToolCall.of("GetFood", cuisine="Thai", town="Ghent")]
    assert (prediction.tagged, prediction.tagger_calls) == (True, 1)
    assert prediction.tags == ["<a:GET_FOOD>I like <sl:CUISINE>Thai</sl></a> food"] or "Thai" in prediction.tags[0]
