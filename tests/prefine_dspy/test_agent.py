import asyncio
import copy
import json
import logging
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from scripted_lm import Script, lm_of, prompt_of, stage_of, verdict
from small_world import FLIGHTS, SESSIONS, TOOLS, flight, session

import prefine_dspy as pf
from prefine_dspy.full_history import FullHistory
from prefine_dspy.types import Choice, Memory
from prefine_dspy.user_memory import MAX_SESSIONS, UserMemory

CANARY = "canary-7f3a"


def arguments(**given):
    return {one.name: given.get(one.name, "unspecified") for one in FLIGHTS.parameters}


def answering(**given):
    """Every session is about economy class; every call has these arguments."""
    answers = {
        "generate": {"hypothesis": "The user prefers economy class"},
        "verify": verdict(),
        "call": {"call": {"function": "GetFlights", "arguments": arguments(**given)}},
    }
    return Script(lambda request: answers[stage_of(request)])


def agent_of(script, program=None, **options):
    return pf.load(program or pf.PRefine(), lm_of(script), **options)


def updated(agent, sessions=SESSIONS, memory=None):
    for one in sessions:
        memory = agent.update(memory, one, TOOLS)
    return memory


# -- the three lines


def test_a_query_is_filled_from_the_memory():
    script = answering(flight_class="Economy", destination="Paris")
    agent = agent_of(script)
    memory = updated(agent)
    result = agent(query="Book me a flight to Paris", tools=TOOLS, memory=memory)
    assert result.calls == (flight("Economy", destination="Paris"),)
    source = result.sources[0]["flight_class"]
    assert (source.origin, source.version, source.sessions, source.exact) == ("memory", 3, ("s1", "s3"), True)
    assert result.sources[0]["destination"].origin == "query"
    assert "prefers economy class" in prompt_of(script.requests[-1])
    assert result.explain().splitlines() == [
        "GetFlights.flight_class = Economy: from memory version 3 (chosen in s1, s3)",
        "GetFlights.destination = Paris: stated in the query",
    ]


def test_what_the_memory_gave_is_not_evidence():
    agent = agent_of(answering(flight_class="Economy", destination="Paris"))
    result = agent("Book me a flight to Paris", TOOLS, updated(agent))
    assert result.stated == (pf.ToolCall.of("GetFlights", destination="Paris"),)


def test_nothing_is_invented():
    result = agent_of(answering(airlines="Lufthansa", destination="Oslo"))("Book me a flight to Paris", TOOLS)
    assert result.calls == (pf.ToolCall.of("GetFlights"),)
    assert {(one.kind, one.argument) for one in result.dropped} == {
        ("not_grounded", "airlines"),
        ("not_grounded", "destination"),
    }
    assert result.explain() == "GetFlights()"


def test_required_arguments_that_nothing_defends_are_named():
    tools = [{"name": "GetFlights", "parameters": {
        "properties": {"destination": {"type": "string"}, "seats": {"type": "integer", "default": 1}},
        "required": ["destination", "seats"],
    }}]  # fmt: skip
    result = agent_of(answering())("Book me a flight", tools)
    assert result.missing == (("destination",),)
    assert result.calls[0].arguments == {"seats": 1}
    assert result.sources[0]["seats"].origin == "default"


def test_an_answer_that_cannot_be_read_is_no_call():
    result = agent_of(Script(lambda request: "I cannot help with that."))("Book me a flight", TOOLS)
    assert result.calls == () and result.parse_failed and result.explain() == "no call"


def test_the_lms_own_errors_come_through():
    script = Script(lambda request: ConnectionError("down"))
    with pytest.raises(dspy.LMError):
        agent_of(script)("Book me a flight", TOOLS)


# -- memory


def test_a_memory_is_a_value():
    agent = agent_of(answering())
    first = updated(agent, SESSIONS[:1])
    kept = first.model_dump_json()
    second = updated(agent, SESSIONS[1:2], first)
    assert first.model_dump_json() == kept
    assert UserMemory.model_validate_json(second.model_dump_json()) == second
    assert (second.version, second.seen, second.basis) == (2, 2, ("s1", "s2"))


def test_a_memory_holds_neither_dialogue_nor_what_was_done_once():
    memory = updated(agent_of(answering()), [session("s1", flight(destination="Oslo", date="March 5th"), talk=CANARY)])
    text = memory.model_dump_json()
    assert CANARY not in text and "Oslo" not in text and "March" not in text
    assert "Economy" in text


def test_the_verifier_reads_the_whole_record_again():
    script = answering()
    agent = agent_of(script)
    updated(agent, SESSIONS[2:], UserMemory.model_validate_json(updated(agent, SESSIONS[:2]).model_dump_json()))
    judged = [prompt_of(one) for one in script.requests if stage_of(one) == "verify"][-1]
    assert "Session 1:" in judged and "average_star=2" in judged and "Session 3:" in judged


def test_a_memory_does_not_grow_for_ever():
    agent = agent_of(answering())
    memory = UserMemory(
        record=tuple(pf.Session(id=f"old{n}", calls=(flight(),)) for n in range(MAX_SESSIONS)), seen=500
    )
    after = agent.update(memory, SESSIONS[0], TOOLS)
    assert len(after.record) == MAX_SESSIONS and after.record[-1].id == "s1" and after.seen == 501
    assert len(after.memory.sessions) <= MAX_SESSIONS


def test_sessions_have_names():
    agent = agent_of(answering())
    chat = [{"role": "user", "content": "Economy"}]
    memory = agent.update(agent.update(None, chat, TOOLS), chat, TOOLS)
    assert memory.memory.sessions == ("session-1", "session-2")
    assert agent.update(memory, chat, TOOLS, id="mine").memory.sessions[-1] == "mine"
    with pytest.raises(pf.InputError, match="'s1' was seen before"):
        updated(agent, [SESSIONS[0], SESSIONS[0]])


def test_a_session_without_evidence_asks_no_lm():
    script = answering()
    memory = agent_of(script).update(None, [{"role": "user", "content": "Hello"}])
    assert script.requests == [] and memory.seen == 1 and memory.text == ""


def test_tools_may_be_unknown_at_an_update():
    call = pf.ToolCall.of("PlayMusic", genre="jazz", start_time="10:30")
    memory = agent_of(answering()).update(None, session("s1", call))
    assert memory.record[0].calls == (pf.ToolCall.of("PlayMusic", genre="jazz"),)


@pytest.mark.parametrize("memory", [Memory(text="Prefers economy class", version=4), "Prefers economy class"])
def test_other_forms_of_memory(memory):
    script = answering(flight_class="Economy")
    result = agent_of(script)("Book me a flight", TOOLS, memory)
    assert result.sources[0]["flight_class"].origin == "memory"
    assert "Prefers economy class" in prompt_of(script.requests[-1])


def test_recurring_choices_beside_the_hypothesis_are_read_too():
    script = answering()
    choice = Choice(function="GetFlights", argument="flight_class", value="Economy", sessions=("a", "b"))
    agent_of(script)("Book me a flight", TOOLS, Memory(text="x", version=1, evidence=(choice,)))
    assert "flight_class=Economy (2 times)" in prompt_of(script.requests[-1])


def test_full_history_keeps_what_was_said():
    script = answering(flight_class="Economy")
    agent = agent_of(script, FullHistory())
    assert agent.keeps_dialogue
    memory = updated(agent, [session("s1", flight(), talk="Something cheap")])
    assert script.requests == []
    result = agent("Book me a flight", TOOLS, memory)
    assert "Something cheap" in prompt_of(script.requests[-1])
    assert result.sources[0]["flight_class"].sessions == ("s1",)


def test_a_store_can_update_through_the_agent():
    agent = agent_of(answering())
    update = agent.updater(TOOLS)(Memory(), SESSIONS[:1])
    assert update.accepted and update.memory.text == "The user prefers economy class"
    with pytest.raises(pf.InputError, match="FullHistory keeps no hypothesis"):
        agent_of(answering(), FullHistory()).updater(TOOLS)


# -- many users in one process


def repeating(request):
    """Says of each user what it reads of this user only."""
    text = request.messages[-1].text
    user = next(
        word for word in text.replace('"', " ").replace("=", " ").split() if word.startswith("user") and word != "user"
    )
    time.sleep(0.002)
    if stage_of(request) == "generate":
        return {"hypothesis": f"The user prefers {user} things"}
    if stage_of(request) == "verify":
        return verdict()
    return {"call": {"function": "GetFlights", "arguments": arguments(airlines=user)}}


def talk_of(user):
    return session("s1", flight(airlines=user), talk=f"I am {user} ."), f"I am {user} , book a flight"


def test_two_users_in_threads_never_mix():
    agent = agent_of(Script(repeating))

    def one(user):
        said, query = talk_of(user)
        memory = agent.update(None, said, TOOLS)
        return memory.text, agent(query, TOOLS, memory).calls[0].arguments

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(one, [f"user{n}" for n in range(24)]))
    assert found == [(f"The user prefers user{n} things", {"airlines": f"user{n}"}) for n in range(24)]


def test_two_users_in_tasks_never_mix():
    agent = agent_of(Script(repeating))

    async def one(user):
        said, query = talk_of(user)
        memory = await agent.aupdate(None, said, TOOLS)
        return memory.text, (await agent.acall(query, TOOLS, memory)).calls[0].arguments

    async def everyone():
        return await asyncio.gather(*(one(f"user{n}") for n in range(24)))

    found = asyncio.run(everyone())
    assert found == [(f"The user prefers user{n} things", {"airlines": f"user{n}"}) for n in range(24)]


def test_an_lm_without_an_async_side_serves_tasks_too():
    script = answering(flight_class="Economy")
    lm = dspy.LM("scripted/sync", engine=script, cache=False, num_retries=0)
    agent = pf.load(pf.PRefine(), lm)
    result = asyncio.run(agent.acall("Book me a flight", TOOLS, "Likes economy class"))
    assert result.calls == (flight(),)
    assert asyncio.run(agent.aupdate(None, SESSIONS[0], TOOLS)).version == 1


def test_sync_and_async_agree(caplog):
    agent = agent_of(answering(flight_class="Economy", destination="Paris"))
    memory = updated(agent)
    query = "Book me a flight to Paris"
    assert asyncio.run(agent.acall(query, TOOLS, memory)) == agent(query, TOOLS, memory)
    assert asyncio.run(agent.aupdate(None, SESSIONS[0], TOOLS)) == agent.update(None, SESSIONS[0], TOOLS)
    assert caplog.text == ""


# -- nothing is left behind


def test_nothing_of_a_user_stays_in_the_process(caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    dspy.configure_cache(enable_disk_cache=True, enable_memory_cache=True, disk_cache_dir=str(tmp_path))
    script = answering(flight_class="Economy", airlines=CANARY)
    lm = dspy.LM("scripted/cached", engine=script, cache=True, num_retries=0)
    program = pf.PRefine()
    before = copy.deepcopy(dict(dspy.settings.config.items()))
    agent = pf.load(program, lm)
    memory = updated(agent, [session("s1", flight(airlines=CANARY), talk=CANARY)])
    agent(f"Fly with {CANARY}", TOOLS, memory)
    agent(f"Fly with {CANARY}", TOOLS, memory)
    assert dict(dspy.settings.config.items()) == before
    assert not lm.history and not program.history and not dspy.clients.base_lm.GLOBAL_HISTORY
    assert CANARY not in json.dumps(program.dump_state(), default=str)
    assert CANARY not in caplog.text
    assert sum(stage_of(one) == "call" for one in script.requests) == 2
    assert not any(CANARY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_the_callers_own_settings_stay():
    other = lm_of(Script([]))
    with dspy.context(lm=other):
        agent_of(answering())("Book me a flight", TOOLS)
        assert dspy.settings.lm is other
        assert not dspy.settings.disable_history


def test_the_import_is_light_and_writes_nothing(tmp_path):
    code = "import sys, prefine_dspy; assert 'dspy' not in sys.modules; assert prefine_dspy.__version__"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={"HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    )
    assert list(tmp_path.iterdir()) == []


def test_the_agents_own_time_is_small():
    agent = agent_of(answering(flight_class="Economy", destination="Paris"))
    memory = updated(agent)
    agent("Book me a flight to Paris", TOOLS, memory)
    times = []
    for _ in range(30):
        start = time.perf_counter()
        agent("Book me a flight to Paris", TOOLS, memory)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.005


# -- confidence


def test_without_logprobs_the_reason_is_said():
    class Bare(Script):
        def __init__(self):
            super().__init__(
                lambda request: {"call": {"function": "GetFlights", "arguments": arguments(flight_class="Economy")}}
            )
            self.supported_params = frozenset({"response_format"})

    source = agent_of(Bare())("Book me a flight", TOOLS, "Likes economy").sources[0]["flight_class"]
    assert source.confidence is None
    assert source.why_no_confidence == "the LM does not offer log-probabilities"


def test_logprobs_can_be_switched_off():
    script = answering(flight_class="Economy")
    source = agent_of(script, confidence=False)("Book", TOOLS, "Likes economy").sources[0]["flight_class"]
    assert "switched off" in source.why_no_confidence
    assert script.requests[-1].config.logprobs is None


def test_an_lm_that_refuses_logprobs_is_asked_without():
    plain = answering(flight_class="Economy")

    def refusing(request):
        if request.config.logprobs is not None:
            return dspy.lm15.UnsupportedFeatureError("no logprobs here", feature="logprobs")
        return plain.complete(request).text

    source = agent_of(Script(refusing))("Book me a flight", TOOLS, "Likes economy").sources[0]["flight_class"]
    assert source.why_no_confidence == "the LM refused to give log-probabilities"


# -- loading


@pytest.mark.parametrize(
    ("program", "lm", "message"),
    [
        ("no-such-program", "local", "no compiled program 'no-such-program'"),
        (dspy.Predict("a -> b"), lm_of(Script([])), "has no ToolCaller"),
        (pf.PRefine(), 3, "lm must be a name"),
        (pf.PRefine(), "nonsense", "'nonsense' is no LM"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(program, lm, message):
    with pytest.raises(pf.InputError, match=message) as raised:
        pf.load(program, lm)
    assert "\n" not in str(raised.value)


def test_options_are_for_saved_programs():
    with pytest.raises(pf.InputError, match=r"PRefine\(K=...\)"):
        pf.load(pf.PRefine(), lm_of(Script([])), K=3)


@pytest.mark.parametrize("call", [lambda a: a("x", TOOLS, memory=3), lambda a: a.update([], SESSIONS[0])])
def test_a_wrong_memory_is_said(call):
    with pytest.raises(pf.InputError, match="memory is what update"):
        call(agent_of(answering()))
