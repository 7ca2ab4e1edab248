import pytest
from small_world import FLIGHTS, SESSIONS

from prefine_dspy.provenance import Source, is_stated, source_of
from prefine_dspy.tools import Parameter
from prefine_dspy.types import Memory, ToolCall
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
