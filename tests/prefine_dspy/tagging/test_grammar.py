import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tag_world import NESTED, THAI, THAI_ANGLE, THAI_BRACKET, TOOLS, TWO, mutated, tagged

from prefine_dspy.tagging import (
    Action,
    Span,
    Tagged,
    TagProblem,
    action_label,
    argument_of,
    fit,
    function_of,
    parse_tags,
    render_tags,
    triplets,
)

FORMS = ("angle", "bracket")


def read(text, tools=None):
    parsed = parse_tags(text, tools)
    return parsed.tagged, [problem.kind for problem in parsed.problems]


def said(found):
    """(function, words, ((slot, words), ...)) of every action."""
    return [
        (action.name, found.words(action), tuple((slot.name, found.words(slot)) for slot in action.slots))
        for action in found.actions
    ]


def test_both_forms_are_written_and_read():
    assert render_tags(THAI) == THAI_ANGLE
    assert render_tags(THAI, "bracket") == THAI_BRACKET
    assert read(THAI_ANGLE) == (THAI, [])
    assert read(THAI_BRACKET) == (THAI, [])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sentence", [NESTED, TWO, Tagged("No tags at all."), Tagged("")])
def test_nested_and_sequential_actions_are_read_back(sentence, form):
    assert read(render_tags(sentence, form), TOOLS if sentence.actions else None) == (sentence, [])


def test_actions_with_the_same_words_keep_their_order():
    text = "pop music"
    both = Tagged(text, (Action("GetTravel", 0, 9, (Span("category", 0, 9),)), Action("GetEvents", 0, 9)))
    assert render_tags(both) == "<a:GET_TRAVEL> <sl:CATEGORY> <a:GET_EVENTS> pop music</a></sl></a>"
    assert read(render_tags(both))[0] == both


@pytest.mark.parametrize(
    "actions",
    [
        (Action("GetHotels", 0, 99),),
        (Action("GetHotels", 3, 3),),
        (Action("GetHotels", 0, 4),),  # ends with a blank
        (Action("Get Hotels", 0, 3),),
        (Action("A", 0, 7), Action("B", 4, 11)),
        (Action("A", 0, 3, (Span("x", 4, 7),)),),
        (Action("A", 0, 11, (Span("x", 4, 5),)), Action("B", 4, 7)),  # the slot lies in the other action
    ],
)
def test_tags_that_cannot_be_written_cannot_be_made(actions):
    with pytest.raises(ValueError, match=r"tag|slot"):
        Tagged("one two six", actions)


@pytest.mark.parametrize(
    ("text", "expected", "problems"),
    [
        (
            "[IN:GET_HOTELS In [SL: LOCATION Oslo ]. ]",
            [("GetHotels", "In Oslo.", (("location", "Oslo"),))],
            [],
        ),
        ("[IN:GetHotels In [sl:location Oslo]]", [("GetHotels", "In Oslo", (("location", "Oslo"),))], []),
        (
            "[IN:GET_HOTELS In [SL:LOCATION Oslo . ]",
            [("GetHotels", "In Oslo .", (("location", "Oslo"),))],
            ["unclosed"],
        ),
        ("<a:GET_HOTELS> In <sl:LOCATION> Oslo", [("GetHotels", "In Oslo", (("location", "Oslo"),))], ["unclosed"] * 2),
        (
            "<a:GET_HOTELS> In <sl:LOCATION> Oslo.</a>",
            [("GetHotels", "In Oslo.", (("location", "Oslo"),))],
            ["unclosed"],
        ),
        (
            "<a:GET_HOTELS> In <sl:LOCATION> Oslo</sl></sl>.</a></a>",
            [("GetHotels", "In Oslo.", (("location", "Oslo"),))],
            ["stray_close"] * 2,
        ),
        (
            "<a:GET_HOTELS> In <sl:LOCATION> Oslo</a></sl>",
            [("GetHotels", "In Oslo", (("location", "Oslo"),))],
            ["unclosed", "stray_close"],
        ),
        (
            "Stay in <sl:LOCATION> Oslo</sl> at <a:GET_HOTELS> hotels</a>",
            [("GetHotels", "Oslo at hotels", (("location", "Oslo"),))],
            ["slot_outside_action"],
        ),
        ("Stay in <sl:LOCATION> Oslo</sl>", [], ["slot_outside_action"]),
        ("<a:GET_HOTELS> </a> <sl:></sl>Oslo", [], ["empty", "empty"]),
        (
            "<a:GET_HOTELS> In [SL: LOCATION Oslo</a> today.</a>",  # as the published conversion leaves it
            [("GetHotels", "In Oslo today.", (("location", "Oslo"),))],
            [],
        ),
        (
            "[IN:GET_HOTELS In [SL:LOCATION Oslo [/SL] today [/IN]",
            [("GetHotels", "In Oslo today", (("location", "Oslo"),))],
            [],
        ),
        (
            "<a:GET_HOTELS> [sic] <sl:LOCATION> Oslo</sl:LOCATION></a:GET_HOTELS>",
            [("GetHotels", "[sic] Oslo", (("location", "Oslo"),))],
            [],
        ),
        (
            "[I like [IN:GET_HOTELS hotels in [SL:LOCATION Oslo]].]",
            [("GetHotels", "hotels in Oslo", (("location", "Oslo"),))],
            [],
        ),
        ("[IN:GET_HOTELS In [SL:LOCATION Oslo ]today ]", [("GetHotels", "In Oslo today", (("location", "Oslo"),))], []),
    ],
)
def test_what_lms_and_released_data_write_is_read(text, expected, problems):
    found, kinds = read(text)
    assert said(found) == expected
    assert kinds == problems


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{THAI_ANGLE}\n```",
        f"Sure, here it is:\n{THAI_ANGLE}\n\nThe <sl> tags mark the values.",
        f"The tagged sentence:\n```text\n{THAI_ANGLE}\n```\nAnything else?",
    ],
)
def test_what_stands_around_the_answer_is_cut_off(text):
    assert read(text) == (THAI, ["surrounding_text"])


def test_names_are_brought_to_the_catalogue_or_dropped():
    found, problems = parse_tags(
        "[IN:GET_HOUSESTAYS In [SL:WHERE_TO Oslo ] with [SL:STAR_RATING 4 ] [SL:PRICE cheap ] ] "
        "[IN:GET_BALLOONS up ] [IN:GetSalons [SL:SALON_NAME Zed ] ] [IN:GET_RESTAURANT [SL:SERVE_ALCOHOL wine ] ]",
        TOOLS,
    )
    assert [tuple(one) for one in triplets(found)] == [
        ("GetHouseStays", "where_to", "Oslo"),
        ("GetHouseStays", "rating", "4"),
        ("GetSalons", "stylist_name", "Zed"),
        ("GetRestaurants", "serves_alcohol", "wine"),
    ]
    assert problems == [
        TagProblem("renamed_slot", "star_rating"),
        TagProblem("unknown_slot", "price"),
        TagProblem("unknown_function", "GetBalloons"),
        TagProblem("renamed_slot", "salon_name"),
        TagProblem("renamed_function", "GetRestaurant"),
        TagProblem("renamed_slot", "serve_alcohol"),
    ]
    assert found.text == "In Oslo with 4 cheap up Zed wine"


def test_labels():
    assert action_label("GetHouseStays") == "GET_HOUSE_STAYS"
    assert function_of("GET_HOUSE_STAYS") == "GetHouseStays"
    assert {function_of(label, TOOLS) for label in ("GET_HOUSESTAYS", "GetHouseStays", "get_house_stays")} == {
        "GetHouseStays"
    }
    assert function_of("GET_BALLOONS", TOOLS) is None
    hotels = TOOLS.get("GetHotels")
    assert argument_of("LOCATION", hotels) == argument_of("location", hotels) == "location"
    assert argument_of("DATE", TOOLS.get("GetHouseStays")) is None  # of arrival or of departure?


def test_triplets_in_the_catalogues_values():
    sentence = tagged(
        "A very expensive one that does not serve alcohol in Bonn.",
        (
            *("GetRestaurants", "A very expensive one that does not serve alcohol in Bonn."),
            *(("price_range", "very expensive"), ("serves_alcohol", "does not serve alcohol"), ("city", "Bonn")),
        ),
    )
    assert [one.value for one in triplets(sentence)] == ["very expensive", "does not serve alcohol", "Bonn"]
    assert [one.value for one in triplets(sentence, TOOLS)] == ["very expensive", "False", "Bonn"]


words = st.text("ab çé'.,-?!19", min_size=1, max_size=9).filter(lambda word: word.strip() == word and word)


@st.composite
def sentences(draw):
    """A well-formed tagged sentence: slots and actions at random places between words."""
    parts = draw(st.lists(words, min_size=1, max_size=8))
    text = draw(st.sampled_from((" ", "  ", ""))).join(parts)
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    found = Tagged(text)
    for at in range(draw(st.integers(0, 5))):
        start, end = draw(places)
        action = Action(f"GetA{at}", start, end)
        candidates = [(*found.actions, action)]
        if found.actions:
            last = found.actions[-1]
            grown = Action(last.name, last.start, last.end, (*last.slots, Span(f"s{at}", start, end)))
            candidates.insert(0, (*found.actions[:-1], grown))
        for candidate in candidates:
            try:
                found = Tagged(text, candidate)
            except ValueError:
                continue
            break
    # read actions come in the order of their openings
    order = [tag.action for tag in found.tags() if tag.slot is None]
    actions = [found.actions[at] for at in order]
    slots = [tuple(sorted(one.slots, key=lambda span: (span.start, -span.end))) for one in actions]
    return Tagged(text, tuple(Action(a.name, a.start, a.end, s) for a, s in zip(actions, slots, strict=True)))


@settings(max_examples=300, deadline=None)
@given(sentences(), st.sampled_from(FORMS))
def test_every_well_formed_sentence_is_read_back_exactly(sentence, form):
    assert read(render_tags(sentence, form)) == (sentence, [])


def test_ten_thousand_mutated_strings_are_read_without_an_error():
    numbers = random.Random(4)
    seeds = [render_tags(sentence, form) for sentence in (THAI, NESTED, TWO) for form in FORMS]
    for _ in range(10_000):
        seed = numbers.choice(seeds)
        text = mutated(seed, numbers)
        found = parse_tags(text, TOOLS if numbers.random() < 0.2 else None).tagged
        assert parse_tags(render_tags(found)).tagged.text is not None
        if numbers.random() < 0.2:
            fitted = fit(found, THAI.text)
            assert fitted.tagged is None or fitted.tagged.text == THAI.text


def test_noise_is_read_in_linear_time():
    start = time.process_time()
    for piece in ("[IN:A ", "<sl:", "</a>", "[", "] ", "<a:x> <sl:y> z"):
        parse_tags(piece * 20_000)
    assert time.process_time() - start < 20
