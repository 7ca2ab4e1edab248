import os

import dspy
import pytest

pytest.importorskip("wordllama")

from dspy.utils.exceptions import LMTransportError
from library_answers import CALL, obedient
from library_contract import (
    asked,
    built,
    check_that_a_killed_build_goes_on_to_the_same_memories,
    check_that_a_stopped_run_goes_on_to_the_same_memories,
    check_that_memories_are_a_function_of_what_was_read,
    check_that_nothing_leaves_the_folder,
    last,
)
from scripted_lm import Script, prompt_of
from small_world import TOOLS, session

from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.types import Memory, ToolCall
from programs.rag import RagSystem


def test_every_utterance_is_a_note_and_no_lm_is_asked():
    script = Script([])
    updates = built(RagSystem(), script)
    assert script.requests == []
    assert [note.text for note in updates[1].memory.notes] == [
        "User: Book it please.",
        "Assistant: Done.",
        "User: A simple hotel in Rome.",
        "Assistant: Done.",
    ]
    assert [note.session for note in updates[1].memory.notes] == ["s1", "s1", "s2", "s2"]
    assert updates[2].memory.sessions == ("s1", "s2", "s3")


def test_the_nearest_utterances_are_what_the_caller_reads():
    memory = built(RagSystem(k=1))[-1].memory
    script = Script([CALL])
    prediction = asked(RagSystem(k=1), memory, script)
    assert prediction.memory_text == "- User: Book it please."
    assert "memory: - User: Book it please.\n\nquery: User: Book me a flight" in prompt_of(script.requests[0])
    assert prediction.calls == [ToolCall.of("GetFlights", flight_class="Economy")]


def test_only_new_utterances_and_the_query_are_embedded():
    system = RagSystem()
    system.count = len
    updates = built(system)
    assert [last(update)["embedded_texts"] for update in updates] == [2, 2, 2]
    assert last(updates[1])["embedding_tokens"] == len("A simple hotel in Rome.") + len("Done.")
    assert asked(system, updates[-1].memory, Script(obedient)).retrieval["embedding_tokens"] == len("Book me a flight")


def test_executed_calls_are_read_on_request():
    plain, told = built(RagSystem())[0].memory, built(RagSystem(calls=True))[0].memory
    assert "GetFlights" not in plain.text
    assert "Assistant: Done. Executed: GetFlights(" in told.text


def test_memories_are_a_function_of_what_was_read():
    check_that_memories_are_a_function_of_what_was_read(RagSystem)


def test_a_stopped_run_goes_on_to_the_same_memories(tmp_path):
    check_that_a_stopped_run_goes_on_to_the_same_memories(RagSystem, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_build_goes_on_to_the_same_memories(tmp_path):
    check_that_a_killed_build_goes_on_to_the_same_memories("rag", tmp_path)


def test_nothing_leaves_the_folder(tmp_path, monkeypatch):
    check_that_nothing_leaves_the_folder(RagSystem, tmp_path, monkeypatch)


def test_an_embedding_error_is_raised_and_not_an_empty_memory(monkeypatch):
    system = RagSystem()
    memory = built(system)[-1].memory

    def down(texts):
        raise LMTransportError("nobody is there", model="embedding")

    monkeypatch.setattr(system.embedding, "_model", down)
    with pytest.raises(LMTransportError):
        asked(system, memory, Script(obedient))


def test_a_session_without_turns_changes_nothing_but_is_seen():

    empty = session("s9").model_copy(update={"turns": ()})
    with dspy.context(lm=None):
        update = RagSystem().update(Memory(), [empty], TOOLS)
    assert update.memory.sessions == ("s9",)
    assert not update.accepted


def test_what_is_at_work_is_told():
    system = RagSystem(k=3)
    told = system.describe()
    assert (told["library"], told["k"]) == ("dspy", 3)
    assert told["embedding"].startswith("local (wordllama ")
    done = last(built(system)[0])
    assert (done["lm"], done["dimensions"]) == (None, 256)
    assert told.items() <= done.items()


@pytest.mark.parametrize("options", [{"k": 0}, {"k": "5"}, {"embedding": "nothing"}, {"calls": "yes"}])
def test_options_that_cannot_be_used(options):
    with pytest.raises(InputError):
        RagSystem(**options)


def test_without_the_extra(monkeypatch):
    import prefine_dspy.lm.embedding as embedding

    def missing():
        raise MissingExtra("the local embedding model", "rag")

    monkeypatch.setattr(embedding, "_wordllama", missing)
    with pytest.raises(MissingExtra, match=r"prefine-dspy\[rag\]"):
        RagSystem()
