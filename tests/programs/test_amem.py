import importlib.util
import json
import os
import sys

import pytest

if importlib.util.find_spec("agentic_memory") is None:
    pytest.skip("pip install 'prefine-dspy[amem]'", allow_module_level=True)

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
from scripted_lm import Script, prompt_of

from prefine_dspy.errors import InputError, MissingExtra
from programs.amem import AMemSystem
from programs.memory_backends import amem_store

ANALYSIS = {"keywords": ["flight"], "context": "The user books a flight.", "tags": ["travel"]}


def test_a_pair_of_turns_is_a_note_with_what_the_lm_says_of_it():
    update = built(AMemSystem(), Script([ANALYSIS, *[ANALYSIS, amem_store.UNCHANGED] * 2]))[0]
    (note,) = update.memory.notes
    assert note.data["content"].startswith("user: Book it please.\nassistant: Done.\nExecuted: GetFlights(")
    assert note.text.endswith("context: The user books a flight. keywords: flight tags: travel")
    assert note.data["keywords"] == ["flight"]


def test_later_notes_link_to_and_rewrite_earlier_ones():
    updates = built(AMemSystem(), Script(obedient))
    first, second = updates[1].memory.notes
    assert first.data["context"].startswith("seen by ")
    assert (first.session, second.session) == ("s2", "s2")
    assert second.data["links"] == ["s1-1"]
    assert last(updates[1])["written"] == 2


def test_the_nearest_notes_are_shown():
    memory = built(AMemSystem(), Script(obedient))[-1].memory
    prediction = asked(AMemSystem(k=2), memory, Script([CALL]))
    assert len(prediction.memory_text.splitlines()) == 2
    assert prediction.memory_text.startswith("- user: Book it please. assistant: Done.")


@pytest.mark.parametrize("reply", ["", "no JSON", "{}", "[]", '{"keywords": [{}], "context": "", "tags": "a"}'])
def test_an_analysis_that_is_lost_is_counted_and_the_note_kept(reply):
    update = built(AMemSystem(), Script([reply, *[ANALYSIS, amem_store.UNCHANGED] * 2]))[0]
    assert update.parse_failures == 1
    assert last(update)["failed"] == 0
    assert [note.data["context"] for note in update.memory.notes] == ["General"]


def test_an_evolution_that_is_lost_is_counted_and_changes_nothing():
    updates = built(AMemSystem(), Script([ANALYSIS, ANALYSIS, '{"should_evolve": true}', *[ANALYSIS, "no"]]))
    assert [update.parse_failures for update in updates] == [0, 1, 1]
    assert updates[1].memory.notes[0] == updates[0].memory.notes[0]


def test_the_library_prints_nothing_of_a_lost_reply(capsys):
    built(AMemSystem(), Script(lambda request: "no JSON"))
    assert capsys.readouterr().out == ""


def test_prompts_show_days_that_repeat():
    script = Script(obedient)
    built(AMemSystem(), script)
    assert "talk start time:202501011201\t" in prompt_of(script.requests[2]).replace("\\t", "\t")


def test_what_is_embedded_is_counted():
    update = built(AMemSystem(), Script(obedient))[1]
    # the look-up, the rewritten neighbour, the new note
    assert last(update)["embedded_texts"] == 3


def test_memories_are_a_function_of_what_was_read():
    check_that_memories_are_a_function_of_what_was_read(AMemSystem)


def test_an_lm_error_ends_the_update():
    check_that_an_lm_error_ends_the_update(AMemSystem)


def test_a_stopped_run_goes_on_to_the_same_memories(tmp_path):
    check_that_a_stopped_run_goes_on_to_the_same_memories(AMemSystem, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_build_goes_on_to_the_same_memories(tmp_path):
    check_that_a_killed_build_goes_on_to_the_same_memories("amem", tmp_path)


def test_nothing_leaves_the_folder(tmp_path, monkeypatch):
    check_that_nothing_leaves_the_folder(AMemSystem, tmp_path, monkeypatch)


def test_without_the_extra(monkeypatch):
    amem_store.modules.cache_clear()
    monkeypatch.setitem(sys.modules, "agentic_memory", None)
    with pytest.raises(MissingExtra, match=r"prefine-dspy\[amem\]"):
        AMemSystem()


def test_another_package_of_the_same_import_name(monkeypatch, tmp_path):
    amem_store.modules.cache_clear()
    (tmp_path / "agentic_memory.py").write_text("")
    for name in [name for name in sys.modules if name.partition(".")[0] == "agentic_memory"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="pip uninstall agentic-memory"):
        AMemSystem()


def test_schemas_of_the_library_are_made_strict():
    strict = amem_store._strict({"type": "object", "properties": {"tags": {"type": "array"}}})
    assert amem_store._fits(json.dumps({"tags": []}), strict)
    assert not amem_store._fits("{}", strict)
