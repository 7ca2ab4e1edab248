import dspy
from scripted_lm import Script, lm_of, prompt_of, verdict
from small_world import SESSIONS, TOOLS

from prefine_dspy.types import History, Memory, Query, ToolCall
from programs.prefine import PRefine, PRefineSystem

QUERY = Query.of("Book me a flight")
ANSWER = {"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}}
CHEAP = {"hypothesis": "The user prefers low cost"}


def test_one_update_a_session_then_one_call():
    first, second = {"hypothesis": "version 1"}, {"hypothesis": "version 2"}
    script = Script([first, verdict(), second, verdict(), CHEAP, verdict(False), ANSWER])
    with dspy.context(lm=lm_of(script)):
        prediction = PRefine(K=0)(history=History(id="h", sessions=SESSIONS), query=QUERY, tools=TOOLS)
    assert script.stages == ["generate", "verify"] * 3 + ["call"]
    assert prediction.memory == Memory(text="version 2", version=2, sessions=("s1", "s2", "s3"))
    assert prediction.calls == [ToolCall.of("GetFlights", flight_class="Economy")]
    assert "memory: version 2" in prompt_of(script.requests[-1])


def test_the_update_sees_no_later_session():
    script = Script([CHEAP, verdict()] * 3 + [ANSWER])
    with dspy.context(lm=lm_of(script)):
        PRefine()(history=History(id="h", sessions=SESSIONS), query=QUERY, tools=TOOLS)
    records = [prompt_of(script.requests[number]) for number in (1, 3, 5)]
    assert ["Session 2:" in record for record in records] == [False, True, True]
    assert ["Session 3:" in record for record in records] == [False, False, True]


def test_the_system_answers_from_the_memory_alone():
    script = Script([ANSWER])
    memory = Memory(text="The user prefers low cost", version=1)
    with dspy.context(lm=lm_of(script)):
        prediction = PRefineSystem().answer(QUERY, TOOLS, History(id="h", sessions=SESSIONS), memory)
    asked = prompt_of(script.requests[0])
    assert script.stages == ["call"]
    assert "Book it please." not in asked
    assert prediction.memory_text == "The user prefers low cost"
    assert "memory: The user prefers low cost" in asked


def test_the_system_updates_with_the_last_session():
    script = Script([CHEAP, verdict()])
    with dspy.context(lm=lm_of(script)):
        update = PRefineSystem(K=1).update(Memory(sessions=("s1",)), SESSIONS[:2], TOOLS)
    assert update.accepted
    assert update.memory.sessions == ("s1", "s2")


def test_both_parts_are_found_by_optimizers_and_saved(tmp_path):
    program = PRefine()
    names = {name for name, _ in program.named_predictors()}
    assert names == {"memory.generate", "memory.verify", "memory.refine", "caller.call_tool"}
    for _, predictor in program.named_predictors():
        predictor.demos = [dspy.Example(note="kept")]
    program.save(tmp_path / "program.json")
    loaded = PRefine()
    loaded.load(tmp_path / "program.json")
    assert all(predictor.demos for _, predictor in loaded.named_predictors())
