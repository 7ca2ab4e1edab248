import asyncio
import json
import logging

import dspy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_lm import Script, lm_of, prompt_of, stage_of, verdict
from small_world import SESSIONS, TOOLS, flight, session

from prefine_dspy.errors import InputError
from prefine_dspy.hypothesis import CRITERIA, MAX_HYPOTHESIS_LENGTH, HypothesisMemory, one_line
from prefine_dspy.rendering import record_text
from prefine_dspy.types import Memory, ToolCall

OLD = Memory(text="The user prefers window seats", version=3, sessions=("s0",))
CHEAP = {"hypothesis": "The user prefers low cost"}


def updated(script, memory=OLD, sessions=SESSIONS[:1], **options):
    script = script if isinstance(script, Script) else Script(script)
    with dspy.context(lm=lm_of(script)):
        return HypothesisMemory(**options)(memory=memory, sessions=sessions, tools=TOOLS), script


def refined(text):
    return {"refined": text}


def always(ok):
    """A generator and a refiner that never say the same twice, and a verifier with one opinion."""
    count = iter(range(1000))

    def answer(request):
        stage = stage_of(request)
        if stage == "verify":
            return verdict(ok)
        return {"hypothesis" if stage == "generate" else "refined": f"The user prefers {next(count)}"}

    return Script(answer)


def test_an_accepted_hypothesis_replaces_the_memory():
    update, script = updated([CHEAP, verdict()])
    assert update.accepted
    assert update.memory == Memory(text="The user prefers low cost", version=4, sessions=("s0", "s1"))
    assert script.stages == ["generate", "verify"]
    assert [step["stage"] for step in update.attempts] == ["generate", "verify"]
    assert update.parse_failures == 0


def test_a_rejected_one_is_refined_with_the_verifiers_feedback():
    update, script = updated([CHEAP, verdict(False, "be wider"), refined("The user saves money"), verdict()])
    assert update.accepted and update.memory.text == "The user saves money"
    assert script.stages == ["generate", "verify", "refine", "verify"]
    asked = prompt_of(script.requests[2])
    assert "feedback: be wider" in asked and "hypothesis: The user prefers low cost" in asked
    rejected = update.attempts[1]
    assert (rejected["abstraction_quality"], rejected["error"], rejected["feedback"]) == (
        False,
        "over-specific",
        "be wider",
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_criterion_can_reject(criterion):
    update, _ = updated([CHEAP, {**verdict(), criterion: False}], K=0)
    assert not update.accepted
    assert update.attempts[-1][criterion] is False


@pytest.mark.parametrize("budget", [0, 1, 3, 5])
def test_without_acceptance_the_old_memory_stays_and_the_calls_are_counted(budget):
    update, script = updated(always(False), K=budget)
    assert not update.accepted
    assert update.memory == OLD.model_copy(update={"sessions": ("s0", "s1")})
    assert script.stages == ["generate", "verify"] + ["refine", "verify"] * budget
    assert [step["stage"] for step in update.attempts] == script.stages


def test_a_candidate_that_was_rejected_is_not_judged_again():
    answers = [CHEAP, verdict(False), refined("other"), verdict(False), refined("The user  prefers low cost")]
    update, script = updated(answers, K=5)
    assert not update.accepted
    assert script.stages == ["generate", "verify", "refine", "verify", "refine"]
    assert update.attempts[-1]["stage"] == "stop"


def test_an_unreadable_verdict_is_counted_and_is_no_acceptance():
    update, script = updated([CHEAP, "looks good to me", refined("The user saves"), verdict()], K=1)
    assert update.accepted and update.memory.text == "The user saves"
    assert update.parse_failures == 1
    assert update.attempts[1] == {
        "stage": "verify",
        "hypothesis": "The user prefers low cost",
        "unparsed": "looks good to me",
    }
    assert len(script.requests) == 4


def test_an_unknown_error_label_is_an_unreadable_verdict():
    update, _ = updated([CHEAP, {**verdict(), "error": "boring"}], K=0)
    assert (update.accepted, update.parse_failures) == (False, 1)


def test_an_unreadable_candidate_is_counted_and_ends_the_update():
    update, script = updated(["I do not know"])
    assert (update.accepted, update.parse_failures) == (False, 1)
    assert update.memory.text == OLD.text
    assert script.stages == ["generate"]


def test_generate_takes_the_first_candidate():
    update, script = updated([CHEAP], loop="generate")
    assert update.accepted and update.memory.text == "The user prefers low cost"
    assert script.stages == ["generate"]


def test_refine_rewrites_k_times_without_a_verifier():
    update, script = updated(always(False), loop="refine", K=3)
    assert update.accepted and update.memory.text == "The user prefers 3"
    assert script.stages == ["generate"] + ["refine"] * 3


def test_refine_keeps_its_candidate_when_an_answer_cannot_be_used():
    update, script = updated([CHEAP, "hm", refined("The user saves")], loop="refine", K=2)
    assert update.memory.text == "The user saves" and update.parse_failures == 1
    assert "hypothesis: The user prefers low cost" in prompt_of(script.requests[2])
    update, script = updated(["hm"], loop="refine", K=2)
    assert not update.accepted and script.stages == ["generate"]


def test_the_generator_reads_the_old_memory_and_the_lasting_values_of_the_session():
    _, script = updated([CHEAP, verdict()])
    asked = prompt_of(script.requests[0])
    assert "previous: The user prefers window seats" in asked
    assert "Economy" in asked and "GetFlights" in asked
    assert "Book it please." not in asked
    _, script = updated([CHEAP, verdict()], memory=Memory())
    assert "previous: (nothing yet)" in prompt_of(script.requests[0])


@pytest.mark.parametrize("options", [{"dialogue": True}, {"record": "full"}])
def test_the_dialogue_is_shown_on_request(options):
    _, script = updated([CHEAP, verdict()], sessions=SESSIONS, **options)
    asked = prompt_of(script.requests[0])
    assert "Book it please." in asked
    assert "A simple hotel" not in asked  # an earlier session's dialogue is never read again by the generator


def test_transient_arguments_never_reach_a_prompt_as_calls():
    talk = [session(s.id, *s.calls, talk="Hello.") for s in SESSIONS]
    _, script = updated(always(False), sessions=talk, K=2)
    read = "\n".join(prompt_of(request) for request in script.requests)
    for once in ("Paris", "Oslo", "March", "Rome", "destination", "city"):
        assert once not in read


def test_a_session_without_evidence_costs_nothing():
    nothing = session("s9", ToolCall.of("GetHotels", city="Rome"))
    update, script = updated([], sessions=[*SESSIONS, nothing])
    assert script.requests == []
    assert not update.accepted
    assert update.memory == OLD.model_copy(update={"sessions": ("s0", "s9")})
    assert update.attempts == ({"stage": "skip", "reason": "the session holds no evidence"},)


def test_the_record_of_calls_is_what_the_verifier_and_the_refiner_read():
    _, script = updated([CHEAP, verdict(False), refined("x"), verdict()], sessions=SESSIONS)
    for number in (1, 2, 3):
        asked = prompt_of(script.requests[number])
        assert record_text(SESSIONS, TOOLS) in asked
        assert "A simple hotel" not in asked


def test_the_full_record_is_the_accumulated_dialogue():
    _, script = updated([CHEAP, verdict()], sessions=SESSIONS, record="full")
    asked = prompt_of(script.requests[1])
    assert "A simple hotel in Rome." in asked and "[Session 3]" in asked
    assert 'destination="Paris"' in asked  # as published: nothing is left out
    nothing = session("s9", talk="Just a chat.")
    update, script = updated([CHEAP, verdict()], sessions=[nothing], record="full")
    assert update.accepted and script.stages == ["generate", "verify"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=2000), min_size=3, max_size=3))
def test_what_the_verifier_reads_does_not_grow_with_the_dialogues(talks):
    sessions = [session(one.id, *one.calls, talk=talk) for one, talk in zip(SESSIONS, talks, strict=True)]
    _, long = updated([CHEAP, verdict()], sessions=sessions)
    _, short = updated([CHEAP, verdict()], sessions=SESSIONS)
    assert prompt_of(long.requests[1]) == prompt_of(short.requests[1])


def test_what_recurs_is_kept_beside_an_accepted_hypothesis_only():
    update, _ = updated([CHEAP, verdict()], sessions=SESSIONS, evidence=2)
    assert [(one.argument, one.value, one.sessions) for one in update.memory.evidence] == [
        ("flight_class", "Economy", ("s1", "s3"))
    ]
    update, _ = updated(always(False), sessions=SESSIONS, evidence=2, K=0)
    assert update.memory.evidence == ()


def test_updates_chain():
    memory = Memory()
    for seen in (1, 2, 3):
        update, _ = updated([{"hypothesis": f"version {seen}"}, verdict()], memory, SESSIONS[:seen])
        memory = update.memory
    assert memory == Memory(text="version 3", version=3, sessions=("s1", "s2", "s3"))


def test_the_same_hypothesis_may_be_confirmed():
    update, _ = updated([{"hypothesis": OLD.text}, verdict()])
    assert update.accepted and update.memory.version == 4


@pytest.mark.parametrize(
    ("options", "says"),
    [({"K": -1}, "0 or more"), ({"loop": "none"}, "verify, refine or generate"), ({"record": "all"}, "calls or full")],
)
def test_options_that_do_not_exist(options, says):
    with pytest.raises(InputError, match=says):
        HypothesisMemory(**options)


def test_a_hypothesis_is_one_short_line():
    assert one_line(" The user\n\n prefers\tquiet ") == "The user prefers quiet"
    assert len(one_line("x" * 5000)) == MAX_HYPOTHESIS_LENGTH


def test_all_three_predictors_are_saved_and_without_an_lm(tmp_path):
    HypothesisMemory().save(tmp_path / "memory.json")
    state = json.loads((tmp_path / "memory.json").read_text(encoding="utf-8"))
    assert {"generate", "verify", "refine"} <= set(state)
    assert not any(state[name].get("lm") for name in ("generate", "verify", "refine"))


def test_the_async_side_does_the_same(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("dspy"), "propagate", True)  # so that caplog hears DSPy

    async def one(script):
        with dspy.context(lm=lm_of(script)):
            return await HypothesisMemory().acall(memory=OLD, sessions=SESSIONS[:1], tools=TOOLS)

    with caplog.at_level(logging.WARNING):
        update = asyncio.run(one(Script([CHEAP, verdict()])))
    assert update.accepted and update.memory.text == "The user prefers low cost"
    assert "discouraged" not in caplog.text


def test_an_lm_that_cannot_be_reached_raises():
    with pytest.raises(Exception, match="no connection"):
        updated([CHEAP, RuntimeError("no connection")])


def test_usage_is_tracked_when_asked_for(caplog):
    with (
        dspy.context(lm=lm_of(Script([CHEAP, verdict()]))),
        dspy.track_usage() as usage,
        caplog.at_level(logging.WARNING),
    ):
        HypothesisMemory()(memory=OLD, sessions=[session("s1", flight())], tools=TOOLS)
    (total,) = usage.get_total_tokens().values()
    assert total["prompt_tokens"] == 20
    assert not caplog.records
