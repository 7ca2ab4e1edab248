import importlib.util
import os
import re

import dspy
import pytest

if importlib.util.find_spec("langmem") is None:
    pytest.skip("pip install 'prefine-dspy[langmem]'", allow_module_level=True)

from library_answers import CALL, obedient
from library_contract import (
    asked,
    built,
    check_that_a_killed_build_goes_on_to_the_same_memories,
    check_that_a_stopped_run_goes_on_to_the_same_memories,
    check_that_an_lm_error_ends_the_update,
    check_that_memories_are_a_function_of_what_was_read,
    check_that_nothing_leaves_the_folder,
    last,
)
from scripted_lm import Script, lm_of, prompt_of
from small_world import SESSIONS, TOOLS

from prefine_dspy.errors import MissingExtra
from prefine_dspy.types import Memory
from programs.langmem import LangMemSystem

NONE = {"calls": []}


def call(name, **args):
    return {"name": name, "args": args}


def patch(document, value, path="/preferences/-", op="add"):
    patches = [{"op": op, "path": path, "value": value}]
    return call("PatchDoc", json_doc_id=document, planned_edits="none", patches=patches)


def profile_patch(request):
    """The profile's writer adds a preference; the other writer has nothing to say."""
    prompt = prompt_of(request)
    if 'schema_type="UserProfile"' not in prompt:
        return NONE
    return {"calls": [patch(re.findall(r"instance id=(\S+)", prompt)[0], "Economy")]}


def test_snippets_and_the_profile_are_notes():
    update = built(LangMemSystem(), Script(obedient))[0]
    kinds = [note.data["kind"] for note in update.memory.notes]
    assert kinds == ["SemanticMemory", "EpisodicMemory", "UserProfile"]
    assert update.memory.notes[1].text.startswith("situation: a flight; action: booked; outcome: ")
    assert last(update)["written"] == 3


def test_the_profile_is_rewritten_and_not_doubled():
    updates = built(LangMemSystem(), Script(profile_patch))
    assert [len(update.memory.notes) for update in updates] == [1, 1, 1]
    assert updates[-1].memory.notes[0].text == "preferences: Economy, Economy, Economy"
    assert updates[-1].memory.notes[0].session == "s3"


def test_a_snippet_is_rewritten_in_place():
    def answer(request):
        prompt = prompt_of(request)
        if 'schema_type="UserProfile"' in prompt:
            return NONE
        if "instance id=" not in prompt:
            return {"calls": [call("SemanticMemory", content="User flies Business")]}
        document = re.findall(r"instance id=(\S+)", prompt)[0]
        return {"calls": [patch(document, "User flies Economy", path="/content", op="replace")]}

    notes = built(LangMemSystem(), Script(answer))[1].memory.notes
    assert [(note.id, note.text, note.session) for note in notes] == [("s1:1", "User flies Economy", "s2")]


def test_the_nearest_are_shown_the_profile_among_them():
    memory = built(LangMemSystem(), Script(obedient))[0].memory
    prediction = asked(LangMemSystem(k=3), memory, Script([CALL]))
    assert sorted(prediction.memory_text.splitlines()) == sorted(f"- {note.text}" for note in memory.notes)


def test_prompts_hold_no_random_ids():
    first, second = Script(obedient), Script(obedient)
    built(LangMemSystem(), first)
    built(LangMemSystem(), second)
    assert [prompt_of(one) for one in first.requests] == [prompt_of(one) for one in second.requests]
    assert "<session_id1>" in prompt_of(first.requests[0])


def test_tool_calls_are_an_answer_held_to_a_schema():
    script = Script(obedient)
    built(LangMemSystem(), script)
    assert all(request.config.response_format["schema"]["required"] == ["calls"] for request in script.requests)
    assert not any(request.tools for request in script.requests)


@pytest.mark.parametrize("reply", ["I will remember that.", "", '{"calls": [{"name": "Sem', '{"calls": "none"}', "[]"])
def test_a_reply_without_calls_is_counted(reply):
    update = built(LangMemSystem(), Script(lambda request: reply))[0]
    assert update.parse_failures == last(update)["unparsed"] > 0
    assert not update.accepted
    assert update.attempts[0] == {"stage": "reply", "unparsed": reply}


def test_abstaining_is_no_failure_where_it_is_allowed():
    update = built(LangMemSystem(), Script(profile_patch))[0]
    assert (update.parse_failures, last(update)["failed"]) == (0, 0)


def test_a_patch_of_a_memory_that_is_not_there_is_counted():
    def answer(request):
        return {"calls": [patch("nowhere", "Economy")]} if "UserProfile" in prompt_of(request) else NONE

    update = built(LangMemSystem(), Script(answer))[0]
    assert last(update)["failed"] >= 1
    assert not update.accepted


def test_arguments_of_the_wrong_shape_are_asked_again_and_then_given_up():
    def answer(request):
        if 'schema_type="UserProfile"' in prompt_of(request):
            return {"calls": []}
        return {"calls": [call("SemanticMemory", content=["no", "text"])]}

    update = built(LangMemSystem(), Script(answer))[0]
    assert last(update)["lm_calls"] > 2
    assert update.memory.notes == ()


def test_a_patch_without_its_document_is_not_asked_for_without_end():
    def answer(request):
        lost = {"calls": [call("PatchDoc", planned_edits="none", patches=[])]}
        return lost if "UserProfile" in prompt_of(request) else NONE

    update = built(LangMemSystem(), Script(answer))[0]
    assert last(update)["lm_calls"] == 2
    assert update.parse_failures == 1


def test_an_lm_that_fails_while_the_profile_is_rewritten_ends_the_update():
    """There the library catches everything and asks again."""
    script = Script(lambda request: OSError("gone") if "UserProfile" in prompt_of(request) else NONE)
    with dspy.context(lm=lm_of(script)), pytest.raises(Exception, match="gone"):
        LangMemSystem().update(Memory(), SESSIONS[:1], TOOLS)
    assert len(script.requests) == 2


def test_memories_are_a_function_of_what_was_read():
    check_that_memories_are_a_function_of_what_was_read(LangMemSystem)


def test_an_lm_error_ends_the_update():
    check_that_an_lm_error_ends_the_update(LangMemSystem)


def test_a_stopped_run_goes_on_to_the_same_memories(tmp_path):
    check_that_a_stopped_run_goes_on_to_the_same_memories(LangMemSystem, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_build_goes_on_to_the_same_memories(tmp_path):
    check_that_a_killed_build_goes_on_to_the_same_memories("langmem", tmp_path)


def test_nothing_leaves_the_folder(tmp_path, monkeypatch):
    check_that_nothing_leaves_the_folder(LangMemSystem, tmp_path, monkeypatch)


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"prefine-dspy\[langmem\]"):
        LangMemSystem()
