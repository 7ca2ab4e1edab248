import pytest
from tag_world import THAI, tagged

from prefine_dspy.tagging import Tagged, fit, parse_tags, render_tags

SENTENCE = 'If I\'m in Bern, book the salon "Cut & Go" for me.'


def fitted(written, sentence=SENTENCE):
    found = fit(parse_tags(written).tagged, sentence)
    assert found.tagged is None or found.tagged.text == sentence
    return found


def slots(found):
    return [(slot.name, found.tagged.words(slot)) for action in found.tagged.actions for slot in action.slots]


def test_the_same_sentence_needs_no_fitting():
    assert fit(THAI, THAI.text) == (THAI, (), ())


@pytest.mark.parametrize(
    "written",
    [
        "<a:GET_SALONS> If I’m in <sl:CITY> Bern</sl>, book the salon “<sl:STYLIST_NAME> Cut & Go</sl>” for me.</a>",
        "<a:GET_SALONS> if i'm in  <sl:CITY> bern </sl> , book the salon <sl:STYLIST_NAME> Cut&Go</sl> for me</a>",
        "<a:GET_SALONS>If I'm in<sl:CITY>Bern</sl>, book the salon<sl:STYLIST_NAME>cut &  go</sl>for me.</a>",
    ],
)
def test_blanks_quotes_and_case_are_no_differences(written):
    found = fitted(written)
    assert (found.dropped, found.added) == ((), ())
    assert slots(found) == [("city", "Bern"), ("stylist_name", "Cut & Go")]
    (action,) = found.tagged.actions
    assert found.tagged.words(action).rstrip(".") == SENTENCE.rstrip(".")


@pytest.mark.parametrize(
    ("written", "dropped", "added", "values"),
    [
        (
            "<a:GET_SALONS> If I'm in <sl:CITY> Bern</sl>, book <sl:STYLIST_NAME> Cut & Go</sl> for me.</a>",
            ("the", "salon"),
            (),
            [("city", "Bern"), ("stylist_name", "Cut & Go")],
        ),
        (
            "<a:GET_SALONS> If I'm in <sl:CITY> the Bern</sl>, bok the salon Cut & Go for me.</a>",
            ("book",),
            ("the", "bok"),
            [("city", "Bern")],
        ),
        (  # a value that was only moved
            "<a:GET_SALONS> If I'm in <sl:CITY> Bern</sl>, book for me the salon <sl:STYLIST_NAME> Cut & Go</sl>.</a>",
            ("for", "me"),
            ("for", "me"),
            [("city", "Bern"), ("stylist_name", "Cut & Go")],
        ),
        (  # an invented value is no value
            "<a:GET_SALONS> If I'm in Bern, book the salon Cut & Go for me <sl:APPOINTMENT_TIME> today</sl>.</a>",
            (),
            ("today",),
            [],
        ),
        (
            "Here you are: <a:GET_SALONS> If I'm in <sl:CITY> Bern</sl>, book the salon Cut & Go for me.</a> Hope it "
            "helps, as always!",
            (),
            ("Here", "you", "are", "Hope", "it", "helps", "as", "always"),
            [("city", "Bern")],
        ),
    ],
)
def test_small_differences_are_repaired_and_counted(written, dropped, added, values):
    found = fitted(written)
    assert found.tagged is not None
    assert set(found.dropped) == set(dropped)
    assert set(found.added) == set(added)
    assert slots(found) == values


@pytest.mark.parametrize(
    "written",
    [
        "<a:GET_SALONS> In <sl:CITY> Bern</sl> I like cheap places.</a>",
        "<a:GET_SALONS> book the salon <sl:STYLIST_NAME> Cut & Go</sl></a>",
        "I cannot do that.",
        "",
    ],
)
def test_another_sentence_is_refused(written):
    found = fitted(written)
    assert found.tagged is None
    assert found.dropped


def test_an_action_that_held_the_whole_copy_holds_the_whole_sentence():
    found = fit(tagged("book the Cut", ("GetSalons", "book the Cut")), "Please book the Cut for")
    assert found.tagged is not None
    assert render_tags(found.tagged) == "<a:GET_SALONS> Please book the Cut for</a>"


def test_two_words_for_one():
    found = fit(tagged("open at 7pm or so", ("GetSalons", "open at 7pm", ("time", "7pm"))), "Open at 7 pm or later so")
    assert found.tagged is not None
    assert found.tagged.words(found.tagged.actions[0].slots[0]) == "7 pm"


def test_a_long_text_is_refused_before_it_is_aligned():
    assert fit(Tagged("a b " * 3_000), "a c " * 3_000).tagged is None
