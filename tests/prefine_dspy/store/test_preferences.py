"""What a store remembers, on both databases."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from store_sessions import accept, refuse, session

from prefine_dspy.errors import InputError
from prefine_dspy.store import PreferenceStore
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import Choice, Memory, MemoryUpdate, Session, ToolCall


def test_an_unknown_user_has_an_empty_memory(store: PreferenceStore) -> None:
    assert store.get("ana") == Memory()
    assert store.latest("ana") is None
    assert store.history("ana") == []


def test_every_method_asks_for_a_user(store: PreferenceStore) -> None:
    for nobody in ("", "  "):
        for call in (store.get, store.latest, store.history, store.unpin, store.forget, store.export):
            with pytest.raises(InputError, match="user id is needed"):
                call(nobody)
        with pytest.raises(InputError, match="user id is needed"):
            store.update(nobody, session("s1"), accept)
        with pytest.raises(InputError, match="user id is needed"):
            store.correct(nobody, "x")
        with pytest.raises(InputError, match="user id is needed"):
            store.import_(nobody, {})
    with pytest.raises(TypeError):
        store.get()  # type: ignore[call-arg]


def test_an_update_is_computed_from_the_store_alone(store: PreferenceStore, url: str) -> None:
    store.update("ana", session("s1"), accept)
    given: list[tuple[Memory, Sequence[Session]]] = []

    def note(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        given.append((memory, sessions))
        return accept(memory, sessions)

    with PreferenceStore(url) as another:
        update = another.update("ana", session("s2", "Business"), note)
    memory, sessions = given[0]
    assert memory == Memory(text="saw s1", version=1, sessions=("s1",))
    assert [one.id for one in sessions] == ["s1", "s2"]
    assert sessions[0].calls == session("s1").calls
    assert sessions[0].turns == (), "dialogue is not kept unless asked for"
    assert sessions[1] == session("s2", "Business"), "the new session comes with its dialogue"
    assert update.memory == store.get("ana") == Memory(text="saw s1 s2", version=2, sessions=("s1", "s2"))


def test_dialogue_is_kept_when_asked(url: str) -> None:
    with PreferenceStore(url, keep_dialogue=True) as store:
        store.update("ana", session("s1"), accept)
        assert store.export("ana")["sessions"][0]["turns"][0]["text"] == "what I said in s1"


def test_without_asking_no_dialogue_is_kept(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), accept)
    assert "what I said" not in json.dumps(store.export("ana"))


def test_with_tools_transient_arguments_are_not_kept(store: PreferenceStore) -> None:
    tool = Tool(name="GetFlights", parameters=(Parameter(name="flight_class"), Parameter(name="date", transient=True)))
    call = ToolCall.of("GetFlights", flight_class="Economy", date="March 5th")
    one = Session(id="s1", calls=(call, ToolCall.of("GetFlights", date="March 6th")))
    given: list[Session] = []

    def note(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        given.extend(sessions)
        return accept(memory, sessions)

    store.update("ana", one, note, tools=Catalogue([tool]))
    assert given == [one], "the updater decides itself"
    assert store.sessions("ana") == [Session(id="s1", calls=(ToolCall.of("GetFlights", flight_class="Economy"),))]
    assert not store.update("ana", one, accept, tools=Catalogue([tool])).accepted, "sent again, it is the same session"


def test_the_updater_sees_a_window_and_the_memory_names_all(url: str) -> None:
    with PreferenceStore(url, window=2) as store:
        for number in range(4):
            store.update("ana", session(f"s{number}"), accept)
        assert store.get("ana") == Memory(text="saw s2 s3", version=4, sessions=("s0", "s1", "s2", "s3"))


def test_versions_keep_what_made_them(store: PreferenceStore) -> None:
    chosen = Choice(function="GetFlights", argument="flight_class", value="Economy", sessions=("s1",))

    def with_evidence(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        update = accept(memory, sessions)
        return update.model_copy(update={"memory": update.memory.model_copy(update={"evidence": (chosen,)})})

    store.update("ana", session("s1"), with_evidence, lm="llamacpp/x", program="abc")
    store.update("ana", session("s2"), refuse)
    first, second = store.history("ana")
    assert (first.number, first.cause, first.accepted, first.session) == (1, "session", True, "s1")
    assert first.memory.evidence == (chosen,)
    assert first.calls == session("s1").calls
    assert (first.lm, first.program) == ("llamacpp/x", "abc")
    assert first.attempts == ({"stage": "generate", "hypothesis": "saw s1"},)
    assert first.at.utcoffset() is not None and first.at <= second.at
    assert (second.number, second.accepted, second.memory.text) == (2, False, "saw s1")
    assert second.attempts == ({"stage": "stop", "reason": "no new candidate"},)


def test_a_correction_outlives_later_sessions_until_unpinned(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), accept)
    assert store.correct("ana", "wants\n the  window").text == "wants the window"

    def never(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        raise AssertionError("no LM is asked while a correction is pinned")

    for name in ("s2", "s3"):
        update = store.update("ana", session(name), never)
        assert not update.accepted
    assert store.get("ana") == Memory(text="wants the window", version=2, sessions=("s1", "s2", "s3"))
    assert store.unpin("ana").text == "wants the window", "it stays until the next session"
    assert store.unpin("ana") == store.get("ana"), "twice is once"
    store.update("ana", session("s4"), accept)
    assert store.get("ana").text == "saw s1 s2 s3 s4", "what was observed while pinned counts afterwards"
    assert [one.cause for one in store.history("ana")] == [
        "session",
        "correction",
        "session",
        "session",
        "unpin",
        "session",
    ]


def test_a_correction_without_pin_may_be_revised(store: PreferenceStore) -> None:
    store.correct("ana", "wants the window", pinned=False)
    store.update("ana", session("s1"), accept)
    assert store.get("ana").text == "saw s1"


def test_a_failing_updater_leaves_the_old_version_and_not_its_session(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), accept)
    before = store.export("ana")

    def fail(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        raise RuntimeError("the LM is gone")

    with pytest.raises(RuntimeError, match="the LM is gone"):
        store.update("ana", session("s2"), fail)
    assert store.export("ana") == before
    store.update("ana", session("s2"), accept)
    assert store.get("ana").sessions == ("s1", "s2")


def test_a_session_sent_twice_counts_once(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), accept)
    again = store.update("ana", session("s1"), accept)
    assert not again.accepted and again.memory == store.get("ana")
    assert len(store.history("ana")) == 1
    with pytest.raises(InputError, match="an id of its own"):
        store.update("ana", session("s1", "Business"), accept)


def test_forget_leaves_the_others(store: PreferenceStore) -> None:
    for user in ("ana", "bo"):
        store.update(user, session("s1"), accept)
    assert store.forget("ana") is True
    assert store.get("ana") == Memory() and store.history("ana") == []
    assert store.get("bo").sessions == ("s1",)
    assert store.forget("ana") is False


def test_export_and_import_carry_everything(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), accept, lm="l", program="p")
    store.correct("ana", "wants the window")
    store.update("ana", session("s2"), accept)
    document = json.loads(json.dumps(store.export("ana")))
    with pytest.raises(InputError, match="has a memory already"):
        store.import_("ana", document)
    assert store.import_("bo", document) == store.get("ana")
    assert store.history("bo") == store.history("ana")
    assert store.export("bo") == {**document, "user": "bo"}
    store.forget("ana")
    store.import_("ana", document)
    assert store.export("ana") == document


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("user"),
        lambda d: d.update(format="else/1"),
        lambda d: d["versions"].reverse(),
        lambda d: d["versions"].pop(),
        lambda d: d["sessions"].clear(),
        lambda d: d["versions"][0].update(cause="magic"),
        lambda d: d["versions"][0]["memory"].update(text="x" * 1_000_000),
        lambda d: d["sessions"][0].update(id="y" * 1_000_000),
    ],
)
def test_a_spoilt_document_is_refused_as_a_whole(store: PreferenceStore, spoil: object) -> None:
    for name in ("s1", "s2"):
        store.update("ana", session(name), accept)
    document = store.export("ana")
    spoil(document)  # type: ignore[operator]
    with pytest.raises(InputError):
        store.import_("bo", document)
    assert store.latest("bo") is None
