"""Instructions of a made-up user, with tags, and the calls that they mean."""

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_lm import Script, lm_of

from prefine_dspy.composition import TagAndRepair, repair
from prefine_dspy.composition.branches import branches
from prefine_dspy.composition.facts import facts_by_function
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
FOOD_IN_GHENT = ToolCall.of("GetFood", town="Ghent")
THAI = "<a:GET_FOOD>I like <sl:CUISINE>Thai</sl> food</a>"


def tagged(*tags):
    return [parse_tags(one, TOOLS).tagged for one in tags]


def meant(*tags, stated=None, function="GetFood"):
    """The branches of one function's instructions."""
    return branches(stated or {}, facts_by_function([function], tagged(*tags), TOOLS)[function])


def repaired(*tags, calls=FOOD, said="I am hungry"):
    return repair(calls, tagged(*tags), TOOLS, Query.of(said))


def test_a_preference_fills_an_argument():
    assert meant(THAI) == [{"cuisine": "Thai"}]


def test_the_dialogue_wins():
    assert meant(THAI, stated={"cuisine": "Greek"}) == [{"cuisine": "Greek"}]


def test_a_condition_is_fulfilled_and_a_chain_of_them():
    chain = (
        "<a:GET_FOOD>At <sl:PLACE_NAME>Baan</sl> I want <sl:HAS_MUSIC>live music</sl></a>",
        "<a:GET_FOOD>For <sl:CUISINE>thai</sl> go to <sl:PLACE_NAME>Baan</sl></a>",
    )
    assert meant(THAI, *chain) == [{"cuisine": "thai", "place_name": "Baan", "has_music": "True"}]


def test_a_condition_that_does_not_hold_says_nothing():
    assert meant(THAI, "<a:GET_FOOD>For <sl:CUISINE>Greek</sl> go to <sl:PLACE_NAME>Ouzo</sl></a>") == [
        {"cuisine": "Thai"}
    ]


def test_a_second_preference_is_a_branch_of_its_own_and_conditions_belong_to_one():
    found = meant(
        THAI,
        "<a:GET_FOOD>I also like <sl:CUISINE>Greek</sl></a>",
        "<a:GET_FOOD>For <sl:CUISINE>Thai</sl> go to <sl:PLACE_NAME>Baan</sl></a>",
        "<a:GET_FOOD>Always <sl:PRICE>cheap</sl></a>",
    )
    assert found == [
        {"cuisine": "Thai", "price": "cheap", "place_name": "Baan"},
        {"cuisine": "Greek", "price": "cheap"},
    ]


def test_alternatives_in_one_sentence():
    found = meant("<a:GET_FOOD>My place is <sl:PLACE_NAME>Baan or Ouzo</sl></a>")
    assert [one["place_name"] for one in found] == ["Baan", "Ouzo"]


def test_functions_named_together_are_called_and_a_neighbours_instruction_is_theirs():
    both = "Look at <a:GET_SHOWS>shows</a> and <a:GET_ROOMS>rooms</a>"
    facts = facts_by_function(["GetShows"], tagged(both, "<a:GET_FILMS>I like <sl:GENRE>dramas</sl></a>"), TOOLS)
    assert facts == {"GetShows": [{"genre": ["dramas"]}], "GetRooms": []}


def test_what_an_answer_lacks_is_filled_in_the_catalogues_order():
    calls = [ToolCall.of("GetFood", town="Ghent")]
    assert list(repaired(THAI, calls=calls)[0].arguments.items()) == [("cuisine", "Thai"), ("town", "Ghent")]


def test_what_an_answer_holds_stays():
    greek = [ToolCall.of("GetFood", cuisine="Greek", town="Ghent")]
    condition = "<a:GET_FOOD>For <sl:CUISINE>Thai</sl> go to <sl:PLACE_NAME>Baan</sl></a>"
    assert repaired(THAI, condition, calls=greek, said="Greek food in Ghent") == greek


def test_a_value_that_is_there_under_another_name_is_not_added():
    calls = [ToolCall.of("GetFood", place_name="Thai")]
    assert repaired(THAI, calls=calls) == calls


def test_a_missing_alternative_becomes_a_call_with_what_is_common():
    thai = [ToolCall.of("GetFood", cuisine="Thai", town="Ghent")]
    greek = "<a:GET_FOOD>I also like <sl:CUISINE>Greek</sl></a>"
    assert repaired(THAI, greek, calls=thai, said="Food in Ghent") == [
        *thai,
        ToolCall.of("GetFood", cuisine="Greek", town="Ghent"),
    ]


def test_functions_are_not_added():
    assert repaired("<a:GET_FILMS>I like <sl:FILM>Alien</sl></a>") == FOOD
    assert repaired(THAI, calls=[]) == []


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


CALLS = st.lists(
    st.builds(
        lambda name, values: ToolCall(name=name, arguments=values),
        st.sampled_from(["GetFood", "GetRooms", "Unknown"]),
        st.dictionaries(st.sampled_from(["cuisine", "town", "star_rating"]), st.text(max_size=5), max_size=3),
    ),
    max_size=3,
)


@given(TAGS, CALLS, st.text(max_size=20))
def test_any_repair_only_adds(tags, calls, said):
    found = repaired(*tags, calls=calls, said=said)
    for call in calls:
        assert any(call.name == one.name and call.arguments.items() <= one.arguments.items() for one in found)


BOTH = "Look into <a:GET_FOOD>food</a> and <a:GET_ROOMS>rooms</a>"


def test_a_function_named_beside_a_called_one_is_called():
    found = repaired(BOTH, "<a:GET_ROOMS>rooms with <sl:STAR_RATING>4</sl> stars</a>", calls=[FOOD_IN_GHENT])
    assert found == [FOOD_IN_GHENT, ToolCall.of("GetRooms", star_rating="4", city="Ghent")]


@pytest.mark.parametrize(
    "tag",
    [
        "<a:GET_FOOD>Look into food and <a:GET_ROOMS>rooms</a></a>",  # one inside the other is a tagger's doubt
        "For <a:GET_FOOD><sl:CUISINE>Thai</sl></a> or <a:GET_ROOMS>rooms</a>",
        "<a:GET_ROOMS>rooms</a> and <a:GET_FILMS>films</a>",
    ],
)
def test_a_function_named_in_another_way_is_not_called(tag):
    assert {one.name for one in repaired(tag, calls=[FOOD_IN_GHENT])} == {"GetFood"}


def test_a_value_answers_what_a_call_asks():
    asking = [ToolCall.of("GetFood", cuisine="?", town="?")]
    assert repaired(THAI, calls=asking) == [ToolCall.of("GetFood", cuisine="Thai", town="?")]


def test_halves_that_become_one_call_are_one():
    halves = [ToolCall.of("GetFood", cuisine="Thai"), ToolCall.of("GetFood", place_name="Baan")]
    condition = "<a:GET_FOOD>For <sl:CUISINE>Thai</sl> go to <sl:PLACE_NAME>Baan</sl></a>"
    assert repaired(condition, calls=halves) == [ToolCall.of("GetFood", cuisine="Thai", place_name="Baan")]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("my usual <sl:CUISINE>kitchen</sl> which is <sl:CUISINE>Thai</sl>", ["Thai"]),
        ("<sl:CUISINE>Greek</sl> or <sl:CUISINE>Thai</sl>", ["Greek", "Thai"]),
        ("<sl:CUISINE>Greek</sl>, <sl:CUISINE>Thai</sl>", ["Greek", "Thai"]),
    ],
)
def test_two_values_in_a_sentence_are_alternatives_if_it_says_so(words, values):
    found = repaired(f"<a:GET_FOOD>I like {words}</a>")
    assert [one.arguments["cuisine"] for one in found] == values


INSTRUCTION = StandingInstruction(id="0", text="I like Thai food")
REQUEST = InstructedQuery(query=Query.of("Food in Ghent"), applicable=(INSTRUCTION,))


def answering(request):
    if "tags" in str(request.config.response_format["schema"]["properties"]):
        return {"tags": [{"GetFood": [{"cuisine": "Thai"}]}]}
    return {"calls": [{"function": "GetFood", "arguments": {"town": "Ghent"}}]}


def test_the_program_answers_tags_and_repairs():
    with dspy.context(lm=lm_of(Script(answering))):
        prediction = TagAndRepair()(request=REQUEST, tools=TOOLS)
    assert prediction.calls == [ToolCall.of("GetFood", cuisine="Thai", town="Ghent")]
    assert prediction.first_calls == [ToolCall.of("GetFood", town="Ghent")]
    assert (prediction.tagged, prediction.tagger_calls) == (True, 1)
    assert "<sl:CUISINE> Thai</sl>" in prediction.tags[0]


@pytest.mark.parametrize(("threshold", "tagged"), [(0.9, False), (0.1, True)])
def test_only_an_unsure_answer_is_tagged(threshold, tagged):
    script = Script(answering, logprobs=True)  # every token at -0.5: least confidence is 1 - exp(-0.5)
    with dspy.context(lm=lm_of(script)):
        prediction = TagAndRepair(threshold=threshold)(request=REQUEST, tools=TOOLS)
    assert prediction.uncertainty["least_confidence"] == pytest.approx(0.3935, abs=1e-4)
    assert (prediction.tagged, len(script.requests)) == (tagged, 1 + tagged)


def test_an_answer_without_log_probabilities_counts_as_unsure():
    with dspy.context(lm=lm_of(Script(answering))):
        prediction = TagAndRepair(threshold=0.9)(request=REQUEST, tools=TOOLS)
    assert prediction.uncertainty == {} and prediction.tagged


def test_without_log_probabilities_samples_tell_that_it_is_sure():
    script = Script(answering)
    with dspy.context(lm=lm_of(script)):
        prediction = TagAndRepair(estimator="disagreement", threshold=0.5)(request=REQUEST, tools=TOOLS)
    assert prediction.uncertainty == {"disagreement": 0.0} and not prediction.tagged
    assert prediction.calls == [ToolCall.of("GetFood", town="Ghent")]


def test_a_table_takes_the_taggers_place():
    script = Script(answering)
    with dspy.context(lm=lm_of(script)):
        table = {INSTRUCTION.text: "<a:GET_FOOD>I like <sl:CUISINE>Thai</sl> food</a>"}
        prediction = TagAndRepair(table=table)(request=REQUEST, tools=TOOLS)
    assert len(script.requests) == 1 and prediction.tagger_calls == 0
    assert prediction.calls == [ToolCall.of("GetFood", cuisine="Thai", town="Ghent")]
