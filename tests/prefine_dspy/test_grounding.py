import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_world import TOOLS

from prefine_dspy.grounding import ungrounded
from prefine_dspy.types import ToolCall

MEMORY = "The user prefers to fly with Delta Airlines."


def invented(query="Book me a flight", memory=MEMORY, **arguments):
    return ungrounded(ToolCall.of("GetFlights", **arguments), TOOLS, query, memory)


def test_members_of_a_closed_set_may_be_inferred():
    assert invented(flight_class="Business") == []


def test_bare_numbers_may_be_inferred():
    assert invented(passengers="1") == []


def test_names_must_have_been_read():
    assert invented(airlines="Alaska Airlines") == ["airlines"]
    assert invented(airlines="Delta Airlines") == []
    assert invented(airlines="delta_airlines") == []


def test_a_part_of_a_word_is_not_the_word():
    assert invented(query="Take me to Parisville", destination="Paris") == ["destination"]


def test_what_is_done_this_once_must_be_in_the_query_itself():
    memory = "The user went to Oslo."
    assert invented(memory=memory, destination="Oslo") == ["destination"]
    assert invented(query="A flight to Oslo!", memory=memory, destination="Oslo") == []


@pytest.mark.parametrize(
    ("query", "date", "kept"),
    [
        ("leave on the 9th of March", "2019-03-09", True),
        ("leave on March 9th", "2019-04-10", False),
        ("leave tomorrow", "2019-03-02", True),
        ("leave at 18:15", "18:15", True),
        ("leave on March 9th", "March 9th", True),
        ("leave on March 9th", "March 10th", False),
    ],
)
def test_dates_share_a_number_with_what_was_said(query, date, kept):
    assert invented(query=query, date=date) == ([] if kept else ["date"])


def test_every_value_of_a_list_must_have_been_read():
    assert invented(airlines=["Delta Airlines", "Alaska"]) == ["airlines"]


def test_accents_and_case_are_compared_by_meaning():
    assert invented(query="nach ZU\u0308RICH bitte", destination="Zürich") == []


def test_scripts_without_blanks_are_searched_as_they_are():
    assert invented(query="我想去东京旅行", destination="东京") == []
    assert invented(query="我想去东京旅行", destination="大阪") == ["destination"]


def test_unknown_names_are_not_judged_here():
    assert ungrounded(ToolCall.of("GetCars", make="Volvo"), TOOLS, "", "") == []
    assert invented(colour="red") == []


@given(st.text(), st.text())
def test_what_was_said_is_never_invented(before, after):
    assert invented(query=f"{before} Kuala Lumpur {after}", destination="Kuala Lumpur") == []


@given(st.text(), st.text(), st.one_of(st.none(), st.integers(), st.text(), st.lists(st.text(), max_size=2)))
def test_any_text_can_be_judged(query, memory, value):
    assert set(invented(query=query, memory=memory, airlines=value)) <= {"airlines"}
