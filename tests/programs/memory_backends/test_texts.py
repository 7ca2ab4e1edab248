from prefine_dspy.types import Note, Query, Session, ToolCall, Turn
from programs.memory_backends.texts import messages, notes_text, search_text, utterances

CALL = ToolCall.of("GetFlights", flight_class="Economy")
ASK, DONE = Turn(role="user", text="Book it."), Turn(role="assistant", text="Done.", calls=(CALL,))


def test_calls_stand_behind_the_turn_that_executed_them():
    session = Session(id="s", turns=(ASK, DONE, ASK), calls=(CALL,))
    assert [one.text for one in utterances(session, calls=True)] == ["Book it.", f"Done.\nExecuted: {CALL}", "Book it."]


def test_calls_of_no_known_turn_stand_behind_the_last():
    session = Session(id="s", turns=(ASK, ASK), calls=(CALL,))
    assert [one.text for one in utterances(session, calls=True)] == ["Book it.", f"Book it.\nExecuted: {CALL}"]


def test_calls_can_be_left_out():
    session = Session(id="s", turns=(ASK, DONE), calls=(CALL,))
    assert messages(session, calls=False) == [
        {"role": "user", "content": "Book it."},
        {"role": "assistant", "content": "Done."},
    ]


def test_a_note_is_one_line():
    assert notes_text([Note(id="1", text="one\ntwo"), Note(id="2", text="three")]) == "- one two\n- three"
    assert notes_text([]) == ""


def test_a_query_is_searched_by_all_its_turns():
    assert search_text(Query(id="q", turns=(ASK, DONE))) == "Book it.\nDone."
