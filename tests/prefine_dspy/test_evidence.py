from small_world import SESSIONS, TOOLS, flight, session

from prefine_dspy.evidence import choices, persistent_calls, recurring
from prefine_dspy.types import Choice, ToolCall


def test_transient_arguments_are_no_evidence():
    assert persistent_calls(SESSIONS[0], TOOLS) == (ToolCall.of("GetFlights", flight_class="Economy"),)


def test_a_call_that_has_nothing_lasting_is_dropped():
    only_once = session("s", ToolCall.of("GetHotels", city="Rome"), flight("Business"), ToolCall.of("GetFlights"))
    assert persistent_calls(only_once, TOOLS) == (flight("Business"),)


def test_choices_are_counted_by_session_most_frequent_first():
    assert choices(SESSIONS, TOOLS) == [
        Choice(function="GetFlights", argument="flight_class", value="Economy", sessions=("s1", "s3")),
        Choice(function="GetHotels", argument="average_star", value="2", sessions=("s2",)),
    ]


def test_the_more_recent_of_equally_frequent_choices_comes_first():
    old, new = session("a", flight("Economy")), session("b", flight("Business"))
    assert [one.value for one in choices([old, new], TOOLS)] == ["Business", "Economy"]


def test_a_choice_made_twice_in_one_session_counts_once():
    twice = session("s", flight("Economy"), flight("Economy"))
    assert choices([twice], TOOLS)[0].sessions == ("s",)
    assert recurring([twice], TOOLS, most=5) == ()


def test_values_of_a_list_are_choices_of_their_own():
    both = session("s", ToolCall.of("GetFlights", airlines=["Delta", "Alaska"]))
    assert {one.value for one in choices([both], TOOLS)} == {"Delta", "Alaska"}


def test_what_recurs_is_limited():
    assert [one.value for one in recurring(SESSIONS, TOOLS, most=5)] == ["Economy"]
    assert recurring(SESSIONS, TOOLS, most=0) == ()
