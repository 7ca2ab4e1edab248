"""What a system makes of a library: here one that does what a test tells it."""

import dspy
import pytest
from scripted_lm import Script, lm_of, prompt_of
from small_world import SESSIONS, TOOLS

from prefine_dspy.errors import InputError
from prefine_dspy.types import History, Memory, Note, Query
from programs.memory_backends import embedding
from programs.memory_backends.system import BackendSystem


class Library:
    """Keeps a note a session, and does `act` before."""

    def __init__(self, supplies, notes, seen, act):
        self.supplies, self.seen, self.act = supplies, seen, act
        self.kept = list(notes)

    def add(self, session):
        self.act(self, session)
        self.kept.append(Note(id=session.id, text=f"saw {session.id}"))

    def notes(self):
        return tuple(self.kept)

    def retrieve(self, query, k):
        return self.kept[:k]

    def close(self):
        self.act = None


class LibrarySystem(BackendSystem):
    name = "library"
    library = "dspy"
    loggers = ("a.library",)

    def __init__(self, act=lambda library, session: library.supplies.lm.ask([{"role": "user", "content": "?"}], None)):
        super().__init__(k=2, embedding="made/up", calls=False)
        self.act = act
        self.opened = []

    def open(self, supplies, notes, seen):
        self.opened.append(Library(supplies, notes, seen, self.act))
        return self.opened[-1]


@pytest.fixture(autouse=True)
def _embedding(monkeypatch):
    monkeypatch.setattr(embedding, "resolve_embedder", lambda name: lambda texts: [[1.0] for _ in texts])


def updated(system, memory=None, seen=1):
    with dspy.context(lm=lm_of(Script(lambda request: "fine"))):
        return system.update(memory or Memory(), SESSIONS[:seen], TOOLS)


def test_notes_become_the_memory():
    memory = updated(LibrarySystem(), updated(LibrarySystem()).memory, seen=2).memory
    assert [(note.text, note.session) for note in memory.notes] == [("saw s1", "s1"), ("saw s2", "s2")]
    assert (memory.text, memory.version, memory.sessions) == ("- saw s1\n- saw s2", 2, ("s1", "s2"))


def test_the_library_is_told_of_sessions_in_the_memory_only():
    system = LibrarySystem()
    updated(system, Memory(sessions=("s2",)), seen=3)
    assert [one.id for one in system.opened[0].seen] == ["s2"]


def test_a_note_that_changes_is_of_the_session_that_changed_it():
    def rewrite(library, session):
        library.kept = [note.model_copy(update={"data": {"tag": session.id}}) for note in library.kept]

    first = updated(LibrarySystem()).memory
    update = updated(LibrarySystem(rewrite), first, seen=2)
    assert [note.session for note in update.memory.notes] == ["s2", "s2"]
    assert update.attempts[-1]["written"] == 2


def test_a_library_that_fails_is_counted_and_what_it_wrote_is_kept():
    def fail(library, session):
        library.supplies.lm.ask([{"role": "user", "content": "?"}], None)
        library.kept.append(Note(id="half", text="half of it"))
        raise KeyError("text")

    update = updated(LibrarySystem(fail))
    assert update.attempts[0] == {"stage": "failure", "message": "KeyError: 'text'"}
    assert update.attempts[-1]["failed"] == 1
    assert [note.id for note in update.memory.notes] == ["half"]


def test_a_library_that_does_not_ask_the_lm_is_found_out():
    update = updated(LibrarySystem(lambda library, session: None))
    assert "did not ask the LM" in update.attempts[0]["message"]


def test_an_update_by_another_lm_than_the_runs_is_an_error():
    system = LibrarySystem()
    system.writer = "scripted/script"
    assert updated(system).attempts[-1]["lm"] == "scripted/script"
    system.writer = "scripted/another"
    with pytest.raises(
        InputError, match="asked scripted/script, and the memories are to be written by scripted/another"
    ):
        updated(system)


def test_fewer_notes_than_k_are_counted(monkeypatch):
    """mem0 leaves out notes whose similarity is below zero."""
    memory = updated(LibrarySystem(), updated(LibrarySystem()).memory, seen=2).memory
    monkeypatch.setattr(Library, "retrieve", lambda self, query, k: self.kept[:1])
    script = Script([{"call": {"function": "GetFlights", "arguments": {}}}])
    with dspy.context(lm=lm_of(script)):
        prediction = LibrarySystem().answer(Query.of("Book me a flight"), TOOLS, History(id="h"), memory)
    assert (prediction.retrieval["notes"], prediction.retrieval["missing"]) == (["s1"], 1)


def test_more_notes_than_k_are_an_error(monkeypatch):
    memory = updated(LibrarySystem()).memory
    monkeypatch.setattr(Library, "retrieve", lambda self, query, k: self.kept * 3)
    with pytest.raises(InputError, match="gave 3 notes where k is 2"):
        LibrarySystem().answer(Query.of("Book me a flight"), TOOLS, History(id="h"), memory)


def test_an_error_of_the_lm_that_the_library_swallows_is_raised():
    def swallow(library, session):
        try:
            library.supplies.lm.ask([{"role": "user", "content": "?"}], None)
        except Exception:
            pass

    with (
        dspy.context(lm=lm_of(Script(lambda request: OSError("gone")))),
        pytest.raises(Exception, match="gone"),
    ):
        LibrarySystem(swallow).update(Memory(), SESSIONS[:1], TOOLS)


def test_the_folder_is_the_librarys_own_while_its_store_is_open(tmp_path):
    seen = []

    def look(library, session):
        seen.append(library.supplies.folder)
        (library.supplies.folder / "file").write_text("x", encoding="utf-8")

    system = LibrarySystem(look)
    system.folder = tmp_path / "stores"
    updated(system)
    assert seen[0].parent == tmp_path / "stores"
    assert list(system.folder.iterdir()) == []
    assert system.opened[0].act is None, "it was closed"


def test_an_empty_memory_opens_no_store():
    system, script = LibrarySystem(), Script([{"call": {"function": "GetFlights", "arguments": {}}}])
    with dspy.context(lm=lm_of(script)):
        prediction = system.answer(Query.of("Book me a flight"), TOOLS, History(id="h"), Memory())
    assert system.opened == []
    assert prediction.memory_text == ""
    assert "memory: (nothing yet)" in prompt_of(script.requests[0])
