from hypothesis import given
from hypothesis import strategies as st
from small_world import SESSIONS, TOOLS, flight, session

from prefine_dspy.evidence import recurring
from prefine_dspy.rendering import (
    NOTHING,
    calls_text,
    history_text,
    memory_text,
    query_text,
    record_text,
    sessions_text,
)
from prefine_dspy.types import History, Memory, Query, ToolCall, Turn


def test_a_session_is_its_dialogue_and_what_was_executed():
    assert sessions_text(SESSIONS[:1]) == (
        "[Session 1]\nUser: Book it please.\nAssistant: Done.\n"
        'Executed: GetFlights(flight_class="Economy", destination="Paris", date="March 5th")'
    )


def test_a_growing_history_keeps_its_prefix():
    texts = [history_text(History(id="h", sessions=SESSIONS[:n])) for n in (1, 2, 3)]
    assert texts[1].startswith(texts[0]) and texts[2].startswith(texts[1])
    records = [record_text(SESSIONS[:n], TOOLS) for n in (1, 2, 3)]
    assert records[1].startswith(records[0]) and records[2].startswith(records[1])


def test_the_record_holds_lasting_values_and_their_tools_only():
    lines = record_text(SESSIONS, TOOLS).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Session 1", "Session 2", "Session 3"]
    for line, words in zip(
        lines, (("GetFlights", "Economy"), ("GetHotels", "2"), ("GetFlights", "Economy")), strict=True
    ):
        assert all(word in line for word in words)
        assert not any(once in line for once in ("Paris", "March", "Rome", "Oslo"))


def test_sessions_without_evidence_leave_no_line_but_keep_their_number():
    empty = session("s0", ToolCall.of("GetHotels", city="Rome"))
    text = record_text([empty, SESSIONS[0]], TOOLS)
    assert text.startswith("Session 2: ") and "\n" not in text


@given(st.text())
def test_the_record_does_not_read_the_dialogue(talk):
    assert record_text([session("s", flight(), talk=talk)], TOOLS) == record_text([session("s", flight())], TOOLS)


def test_nothing_is_said_to_be_nothing():
    assert sessions_text(()) == record_text((), TOOLS) == history_text(History(id="h")) == NOTHING
    assert calls_text(()) == "none"


def test_a_query_is_its_turns():
    assert query_text(Query.of("Book me a flight")) == "User: Book me a flight"
    two = Query(id="q", turns=(Turn(role="user", text="Hi"), Turn(role="assistant", text="Yes?")))
    assert query_text(two) == "User: Hi\nAssistant: Yes?"


def test_a_memory_is_its_hypothesis_and_what_recurs():
    assert memory_text(Memory()) == ""
    assert memory_text(Memory(text="Likes it cheap.")) == "Likes it cheap."
    kept = Memory(text="Likes it cheap.", evidence=recurring(SESSIONS, TOOLS, most=3))
    assert memory_text(kept) == "Likes it cheap.\nChosen repeatedly: flight_class=Economy (2 times)"
