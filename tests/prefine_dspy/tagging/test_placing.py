import pytest
from tag_world import TOOLS

from prefine_dspy.tagging import TagProblem, Wanted, from_calls, place, render_tags, triplets
from prefine_dspy.types import ToolCall


def placed(text, *wanted):
    found = place(text, [Wanted(function, slots) for function, *slots in wanted], TOOLS)
    assert found.tagged.text == text
    return render_tags(found.tagged), found.problems


def test_one_function_has_the_whole_sentence():
    assert placed("I like Thai food.", ("GetRestaurants", ("cuisine", "Thai"))) == (
        "<a:GET_RESTAURANTS> I like <sl:CUISINE> Thai</sl> food.</a>",
        [],
    )


@pytest.mark.parametrize("value", ["thai", "“Thai”", "Thai.", "Tha i", "  Thai"])
def test_a_value_is_found_in_another_spelling(value):
    assert placed("I like Thai.", ("GetRestaurants", ("cuisine", value)))[1] == []


def test_a_misspelt_name_is_found_where_only_one_is_meant():
    text, problems = placed("Stay at the Blue Orchid hotel.", ("GetHotels", ("hotel_name", "Blue Orchyd")))
    assert "<sl:HOTEL_NAME> Blue Orchid</sl>" in text
    assert problems == []
    assert placed("Rated 41 or 4.", ("GetHotels", ("average_rating", "42")))[1] == [TagProblem("not_found", "42")]


def test_a_value_that_the_sentence_does_not_hold_is_dropped_and_counted():
    assert placed("I like food.", ("GetRestaurants", ("cuisine", "Thai"), ("city", "od"))) == (
        "<a:GET_RESTAURANTS> I like food.</a>",
        [TagProblem("not_found", "Thai"), TagProblem("not_found", "od")],
    )


def test_a_value_said_twice_is_given_out_twice():
    text, _ = placed("Thai or more Thai", ("GetRestaurants", ("cuisine", "Thai"), ("restaurant_name", "Thai")))
    assert text == ("<a:GET_RESTAURANTS> <sl:CUISINE> Thai</sl> or more <sl:RESTAURANT_NAME> Thai</sl></a>")


def test_the_words_of_a_boolean():
    text, problems = placed("One where pets are always welcome.", ("GetHotels", ("pets_welcome", "True")))
    assert text == "<a:GET_HOTELS> One where <sl:PETS_WELCOME> pets are always welcome</sl>.</a>"
    assert problems == []
    assert placed("One with a pool.", ("GetHotels", ("pets_welcome", "True")))[1] == [TagProblem("not_found", "True")]


def test_several_functions_share_a_sentence():
    text, problems = placed(
        "Show both hotels and house stays in Bern to me.", ("GetHotels",), ("GetHouseStays", ("where_to", "Bern"))
    )
    assert text == (
        "Show both <a:GET_HOTELS> hotels</a> and <a:GET_HOUSE_STAYS> house stays in <sl:WHERE_TO> Bern</sl></a> to me."
    )
    assert problems == []


def test_a_function_that_is_not_named_holds_the_others():
    text, _ = placed("When I travel, look at salons.", ("GetHouseStays",), ("GetSalons",))
    assert text == "<a:GET_HOUSE_STAYS> When I travel, look at <a:GET_SALONS> salons</a>.</a>"


def test_a_shared_value_is_every_functions():
    found = place(
        "Hotels and salons in Bern.",
        [Wanted("GetHotels", [("location", "Bern")]), Wanted("GetSalons", [("city", "Bern")])],
        TOOLS,
    )
    assert {tuple(one) for one in triplets(found.tagged)} == {
        ("GetHotels", "location", "Bern"),
        ("GetSalons", "city", "Bern"),
    }


def test_interleaved_values_stay_with_their_functions():
    text = "Thai in Bern, expensive, with wifi"
    wanted = [
        Wanted("GetRestaurants", [("cuisine", "Thai"), ("price_range", "expensive")]),
        Wanted("GetHotels", [("location", "Bern"), ("has_wifi", "with wifi")]),
    ]
    found = place(text, wanted, TOOLS)
    assert found.problems == []
    assert {tuple(one) for one in triplets(found.tagged)} == {
        (one.function, slot, value) for one in wanted for slot, value in one.slots
    }


def test_tags_of_calls():
    calls = [ToolCall.of("GetSalons", city="Bern", is_unisex="True", stylist_name=["Cut", "Zed"])]
    found = from_calls("A unisex salon in Bern: Cut or Zed", calls, TOOLS)
    assert found.problems == []
    assert [tuple(one)[1:] for one in triplets(found.tagged, TOOLS)] == [
        ("is_unisex", "True"),
        ("city", "Bern"),
        ("stylist_name", "Cut"),
        ("stylist_name", "Zed"),
    ]
