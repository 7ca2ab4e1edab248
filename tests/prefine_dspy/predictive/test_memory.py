import asyncio

import dspy
import pytest
from letter_server import letter_lm
from predictive_world import (
    ALONE,
    CHEAP,
    CHEAP_SESSIONS,
    DEAR,
    DEAR_FLIGHT,
    DEAR_FOOD,
    DEAR_HOTEL,
    FLIGHT,
    FOOD,
    HOTEL,
    TOOLS,
    call,
    taste,
)
from small_world import session

from prefine_dspy.errors import InputError
from prefine_dspy.predictive.memory import PredictiveMemory
from prefine_dspy.types import Memory

VAGUE = "The user prefers nice things"


@pytest.fixture
def world(monkeypatch):
    servers = []

    def make(*answers):
        """An LM whose generator and refiner give these answers, then repeat the last one."""
        left = list(answers)

        def answer(messages):
            text = left.pop(0) if len(left) > 1 else left[0]
            return {"refined" if "rejected" in messages[0]["content"] else "hypothesis": text}

        lm, server = letter_lm(monkeypatch, taste, answer)
        servers.append(server)
        return lm, server

    yield make
    for server in servers:
        server.close()


def built(lm, sessions, memory=None, **options):
    """The update of each session, oldest first."""
    program, memory, found = PredictiveMemory(**options), memory or Memory(), []
    with dspy.context(lm=lm):
        for seen in range(1, len(sessions) + 1):
            found.append(program(memory=memory, sessions=sessions[:seen], tools=TOOLS))
            memory = found[-1].memory
    return found


def test_a_hypothesis_is_kept_as_soon_as_two_sessions_and_functions_support_it(world):
    lm, _ = world(CHEAP)
    first, second, third = built(lm, CHEAP_SESSIONS, samples=1)
    assert (first.accepted, first.memory.text) == (False, "")
    assert (second.accepted, second.memory.text, second.memory.version) == (True, f"{CHEAP}.", 1)
    (note,) = third.memory.notes
    assert note.text == CHEAP and note.session == "s2"
    assert note.data["supporting"] == ["s1", "s2", "s3"] and note.data["competing"] == []
    assert note.data["confidence"] == 1.0 and note.data["version"] == 1
    assert not third.accepted and third.memory.version == 1
    assert third.memory.sessions == ("s1", "s2", "s3")


def test_an_explained_session_costs_no_generator_call(world):
    lm, server = world(CHEAP)
    built(lm, CHEAP_SESSIONS, samples=1)
    assert len(server.chats) == 2 + 1  # the first two sessions generate, the first also rewrites


def test_a_bank_needs_no_generator(world):
    lm, server = world(VAGUE)
    updates = built(lm, CHEAP_SESSIONS, bank=[DEAR, CHEAP], samples=0)
    assert updates[-1].memory.text == f"{CHEAP}." and server.chats == []
    prompts = len(server.prompts)
    again = built(lm, CHEAP_SESSIONS, bank=[DEAR, CHEAP], samples=0)
    assert len(server.prompts) == prompts  # another user with the same choices is free
    assert again[-1].attempts[0]["evaluated_tokens"] == 0


def test_a_rejected_candidate_is_rewritten_with_what_contradicts_it(world):
    lm, server = world(DEAR, CHEAP)
    (update,) = built(lm, CHEAP_SESSIONS, samples=1)[-1:]
    assert update.memory.text == f"{CHEAP}."
    refiner = next(chat for chat in server.chats if "rejected" in chat[0]["content"])
    assert "flight_class=Economy (GetFlights)" in refiner[-1]["content"]
    with_two = built(world(DEAR)[0], CHEAP_SESSIONS, samples=1, K=2)[-1]
    assert with_two.memory.text == ""


def test_an_unreadable_answer_is_counted_and_changes_nothing(monkeypatch):
    lm, server = letter_lm(monkeypatch, taste, lambda messages: {"answer": "I cannot"})
    update = built(lm, CHEAP_SESSIONS[:1], samples=2)[0]
    server.close()
    assert update.parse_failures == 2 and update.memory.text == ""


def test_drift_changes_the_memory_within_the_half_life(world):
    new = [session(f"n{number}", one) for number, one in enumerate((DEAR_FLIGHT, DEAR_HOTEL, DEAR_FOOD, DEAR_FLIGHT))]
    old = [session(f"o{number}", one) for number, one in enumerate((FLIGHT, HOTEL, FOOD) * 3)]
    lm, _ = world(VAGUE)
    steady = built(lm, [*old, *new], bank=[CHEAP, DEAR], samples=0)
    assert steady[-1].memory.text == f"{CHEAP}."
    drifting = built(lm, [*old, *new], bank=[CHEAP, DEAR], samples=0, half_life=2)
    assert [one.memory.text for one in drifting[-5:]] == [f"{CHEAP}.", f"{CHEAP}.", "", f"{DEAR}.", f"{DEAR}."]


def test_two_preferences_are_two_hypotheses(world):
    both = [
        session("s1", FLIGHT, call("GetEvents", tickets="1")),
        session("s2", HOTEL),
        session("s3", call("GetFlights", passengers="1")),
        session("s4", FOOD),
    ]
    lm, _ = world(VAGUE)
    memory = built(lm, both, bank=[CHEAP, ALONE], samples=0)[-1].memory
    assert {note.text for note in memory.notes} == {CHEAP, ALONE}
    assert memory.text.count("The user") == 2


def test_merges_put_two_candidates_together(world):
    lm, _ = world("The user prefers low cost", ALONE)
    update = built(lm, CHEAP_SESSIONS[:1], samples=2, merges=True)[0]
    texts = [text for step in update.attempts if step["stage"] == "score" for text in step["verdicts"]]
    assert "The user prefers low cost; the user travels alone" in texts


def test_a_name_is_kept_with_the_hypothesis_that_names_it(world):
    text = "The user likes Jay Chou"
    chosen = [
        session("s1", call("GetMusic", artist="Jay Chou")),
        session("s2", call("GetMovies", starring="Jay Chou")),
    ]
    lm, _ = world(text)
    memory = built(lm, chosen, samples=1)[-1].memory
    assert memory.text == f"{text}." and memory.notes[0].data["values"] == ["Jay Chou"]


def test_recurring_choices_are_kept_beside(world):
    lm, _ = world(VAGUE)
    sessions = [session("s1", FLIGHT), session("s2", FLIGHT)]
    assert [one.value for one in built(lm, sessions, samples=0)[-1].memory.evidence] == ["Economy"]
    assert built(lm, sessions, samples=0, evidence=0)[-1].memory.evidence == ()


def test_a_session_without_evidence_costs_nothing(world):
    lm, server = world(CHEAP)
    update = built(lm, [session("s1", call("GetFlights", destination="Oslo"))])[0]
    assert update.attempts[0]["stage"] == "skip" and (server.chats, server.prompts) == ([], [])


def test_the_trace_says_what_it_took(world):
    lm, server = world(CHEAP)
    update = built(lm, CHEAP_SESSIONS[:1], samples=1, K=0)[0]
    steps = [step for step in update.attempts if step["stage"] == "score"]
    assert sum(step["questions"] for step in steps) == 2  # with the hypothesis, and knowing nothing
    assert sum(step["evaluated_tokens"] for step in steps) > 0


def test_async_gives_the_same(world):
    lm, _ = world(CHEAP)

    async def one():
        with dspy.context(lm=lm):
            return await PredictiveMemory(samples=1).acall(memory=Memory(), sessions=CHEAP_SESSIONS, tools=TOOLS)

    assert asyncio.run(one()).memory.text == f"{CHEAP}."


@pytest.mark.parametrize(
    "options",
    [{"K": -1}, {"samples": 1.5}, {"bank": "x"}, {"bank": [""]}, {"half_life": 0}, {"merges": 1}, {"threshold": -1}],
)
def test_options_are_checked(options):
    with pytest.raises(InputError):
        PredictiveMemory(**options)
