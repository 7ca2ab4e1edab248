import importlib.util
import json
import os
import sys

import pytest

# mem0 must not be imported here: it makes a folder at home
if importlib.util.find_spec("mem0") is None:
    pytest.skip("pip install 'prefine-dspy[mem0]'", allow_module_level=True)

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

from prefine_dspy.errors import MissingExtra
from programs.mem0 import Mem0System
from programs.memory_backends import mem0_store


def facts(*texts):
    return {"memory": [{"id": str(n), "text": text, "attributed_to": "user"} for n, text in enumerate(texts)]}


def test_facts_are_notes_and_the_nearest_are_shown():
    script = Script([facts("User flies Economy"), facts("User likes plain hotels", "User goes to Rome"), facts()])
    updates = built(Mem0System(), script)
    memory = updates[-1].memory
    assert [(note.text, note.session) for note in memory.notes] == [
        ("User flies Economy", "s1"),
        ("User goes to Rome", "s2"),
        ("User likes plain hotels", "s2"),
    ]
    assert [update.accepted for update in updates] == [True, True, False]
    assert [last(update)["written"] for update in updates] == [1, 2, 0]
    prediction = asked(Mem0System(k=1), memory, Script([CALL]))
    assert prediction.memory_text == "- User flies Economy"


def test_the_writer_reads_the_session_the_facts_so_far_and_the_latest_messages():
    script = Script([facts("User flies Economy"), facts(), facts()])
    built(Mem0System(), script)
    second = prompt_of(script.requests[1])
    assert "A simple hotel in Rome." in second.partition("## New Messages")[2]
    assert 'GetHotels(average_star="2", city="Rome")' in second.partition("## New Messages")[2]
    assert "User flies Economy" in second.partition("## Existing Memories")[2]
    assert "Book it please." in second.partition("## Last k Messages")[2]
    assert mem0_store.FIXED_DATE in second.partition("## Current Date")[2]


def test_the_writer_is_held_to_the_schema_with_room_for_an_answer():
    script = Script([facts(), facts(), facts()])
    built(Mem0System(), script)
    config = script.requests[0].config
    assert config.response_format["schema"] == mem0_store.SCHEMA
    assert config.max_tokens == 1024


def test_executed_calls_can_be_left_out():
    script = Script([facts()] * 3)
    built(Mem0System(calls=False), script)
    assert "GetFlights" not in prompt_of(script.requests[0]).partition("## New Messages")[2]


@pytest.mark.parametrize(
    "reply",
    ["", "I have nothing to add.", '{"memory": [{"text": "cut o', "[]", '{"facts": []}', '{"memory": ["User flies"]}']
    + ['{"memory": [{"text": 5}]}', '{"memory": {"text": "x"}}', "[" * 2000],
)
def test_a_reply_that_is_lost_is_counted(reply):
    update = built(Mem0System(), Script([reply, facts(), facts("User flies Economy")]))
    assert update[0].parse_failures == 1
    assert update[0].attempts[0] == {"stage": "reply", "unparsed": reply}
    assert last(update[0])["unparsed"] == 1
    assert not update[0].accepted
    assert update[2].accepted


def test_a_reply_in_a_code_block_is_not_lost():
    update = built(Mem0System(), Script([f"```json\n{json.dumps(facts('User flies Economy'))}\n```", facts(), facts()]))
    assert update[0].parse_failures == 0
    assert [note.text for note in update[0].memory.notes] == ["User flies Economy"]


def test_what_it_cost_and_what_was_at_work_is_in_every_update():
    update = built(Mem0System(k=4), Script(obedient))[0]
    done = last(update)
    assert (done["library"], done["lm"], done["k"], done["dimensions"]) == ("mem0ai", "scripted/script", 4, 256)
    assert done["version"].startswith("2.")
    assert (done["lm_calls"], done["embedded_texts"]) == (1, 2)
    assert done["embedding_tokens"] > 0


def test_memories_are_a_function_of_what_was_read():
    check_that_memories_are_a_function_of_what_was_read(Mem0System)


def test_an_lm_error_ends_the_update():
    check_that_an_lm_error_ends_the_update(Mem0System)


def test_a_stopped_run_goes_on_to_the_same_memories(tmp_path):
    check_that_a_stopped_run_goes_on_to_the_same_memories(Mem0System, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_killed_build_goes_on_to_the_same_memories(tmp_path):
    check_that_a_killed_build_goes_on_to_the_same_memories("mem0", tmp_path)


def test_nothing_leaves_the_folder(tmp_path, monkeypatch):
    check_that_nothing_leaves_the_folder(Mem0System, tmp_path, monkeypatch)


def test_without_the_extra(monkeypatch):
    mem0_store.memory_class.cache_clear()
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(MissingExtra, match=r"prefine-dspy\[mem0\]"):
        Mem0System()
    mem0_store.memory_class.cache_clear()
