import pytest
from small_world import FLIGHTS, SESSIONS

from prefine_dspy.provenance import Source, is_stated, source_of, without_filled
from prefine_dspy.tools import Parameter
from prefine_dspy.types import Memory, Session, ToolCall, Turn
from prefine_dspy.user_memory import UserMemory

MEMORY = UserMemory.of(Memory(text="Prefers low cost", version=2), SESSIONS)


def source(argument, value, query="Book a flight", memory=MEMORY, parameter=None):
    call = ToolCall(name="GetFlights", arguments={argument: value})
    parameter = parameter or FLIGHTS.parameter(argument)
    return source_of(call, argument, parameter, query, memory, memory.text)


def test_stated_in_the_query():
    assert source("flight_class", "Economy", "An ECONOMY flight").origin == "query"


def test_from_the_memory_with_the_sessions_that_chose_it():
    expected = Source(origin="memory", version=2, sessions=("s1", "s3"), exact=True)
    assert source("flight_class", "Economy") == expected


def test_from_the_memory_with_the_sessions_behind_the_hypothesis():
    assert source("passengers", "1") == Source(origin="memory", version=2, sessions=("s1", "s2", "s3"), exact=False)


def test_what_is_done_this_once_is_never_from_the_memory():
    assert source("date", "2026-03-09", "Next Monday").origin == "inferred"


def test_without_a_memory_it_was_inferred():
    assert source("flight_class", "Economy", "The cheap one", memory=UserMemory()).origin == "inferred"


def test_the_tools_default():
    parameter = Parameter(name="currency", json_schema={"type": "string", "default": "EUR"})
    assert source("currency", "EUR", parameter=parameter).origin == "default"
    assert source("currency", "USD", parameter=parameter).origin == "memory"


@pytest.mark.parametrize(
    ("value", "argument", "query"),
    [
        ("New York", "city", "to new york!"),
        (2, "passengers", "for two people"),
        (2, "passengers", "for 2 people"),
        (True, "is_refundable", "a refundable ticket"),
        (True, "petsAllowed", "are pets fine?"),
        (["vegan", "halal"], "meals", "halal and vegan food"),
        ({"city": "Rome", "floor": None}, "contact", "in Rome"),
        ("new_york", "city", "New York"),
    ],
)
def test_stated(value, argument, query):
    assert is_stated(value, argument, query)


@pytest.mark.parametrize(
    ("value", "argument", "query"),
    [
        ("Rome", "city", "Jerome's place"),
        (2, "passengers", "for 12 people"),
        (True, "is", "is it"),
        (False, "refundable", "a ticket"),
        (["vegan", "halal"], "meals", "vegan food"),
        ([], "meals", "food"),
        ("...", "city", "..."),
    ],
)
def test_not_stated(value, argument, query):
    assert not is_stated(value, argument, query)


def test_as_text():
    text = str(Source(origin="memory", version=2, sessions=("s1", "s3"), exact=True, confidence=0.943))
    assert text == "from memory version 2 (chosen in s1, s3), confidence 0.94"
    assert str(Source(origin="query")) == "stated in the query"


FILLED = [(ToolCall.of("GetFlights", flight_class="Economy", seats=2), {"flight_class": "memory", "seats": "memory"})]


def learnt(*calls, said="Book a flight to Oslo", filled=FILLED):
    turns = (Turn(role="user", text=said), Turn(role="assistant", text="Economy, as always.", calls=calls))
    session = without_filled(Session(id="s", turns=turns, calls=calls), filled)
    assert session.turns[1].calls == session.calls
    return [call.arguments for call in session.calls]


def test_what_the_memory_filled_is_no_evidence_for_it():
    call = ToolCall.of("GetFlights", destination="Oslo", flight_class="Economy", seats="2")
    assert learnt(call) == [{"destination": "Oslo"}]
    assert learnt(call, filled=[]) == [call.arguments]


def test_what_the_user_said_or_changed_is_evidence_all_the_same():
    assert learnt(ToolCall.of("GetFlights", flight_class="Economy", seats=2), said="Economy, please") == [
        {"flight_class": "Economy"}
    ]
    changed = ToolCall.of("GetFlights", flight_class="Business", seats=2)
    assert learnt(changed) == [{"flight_class": "Business"}]


def test_only_the_memorys_arguments_of_that_function_are_left_out():
    other = ToolCall.of("GetTrains", flight_class="Economy", seats=2)
    assert learnt(other) == [other.arguments]
    given = [(FILLED[0][0], {"flight_class": "given", "seats": "query"})]
    call = ToolCall.of("GetFlights", flight_class="Economy", seats=2)
    assert learnt(call, filled=given) == [call.arguments]
