import json

import dspy
import pytest
from letter_server import letter_lm
from predictive_world import CHEAP, CHEAP_SESSIONS, TOOLS, taste
from scripted_lm import verdict

from prefine_dspy.caller import ToolCaller
from prefine_dspy.errors import InputError
from prefine_dspy.hypothesis import HypothesisMemory
from prefine_dspy.predictive import ContrastiveCaller, PredictiveMemory, PredictivePRefine
from prefine_dspy.types import History, Query


def answer(messages):
    system = messages[0]["content"]
    if "tool call" in system:
        return {"call": {"function": "GetFlights", "arguments": {}}}
    return {**verdict(), "hypothesis": CHEAP, "refined": CHEAP}


@pytest.mark.parametrize("verifier", ["llm", "predictive"])
@pytest.mark.parametrize("caller", ["plain", "contrastive"])
def test_each_half_can_be_switched_alone(monkeypatch, verifier, caller):
    lm, server = letter_lm(monkeypatch, taste, answer)
    program = PredictivePRefine(verifier=verifier, caller=caller)
    history = History(id="h", sessions=(CHEAP_SESSIONS[1], CHEAP_SESSIONS[2]))
    with dspy.context(lm=lm):
        found = program(history=history, query=Query.of("Book me a flight"), tools=TOOLS)
    server.close()
    assert isinstance(program.memory, HypothesisMemory if verifier == "llm" else PredictiveMemory)
    assert isinstance(program.caller, ContrastiveCaller) == (caller == "contrastive")
    assert isinstance(program.caller, ToolCaller)
    assert CHEAP in found.memory.text
    assert found.calls[0].arguments == ({"flight_class": "Economy"} if caller == "contrastive" else {})
    read = any(
        CHEAP in message["content"] for chat in server.chats for message in chat if "tool call" in chat[0]["content"]
    )
    assert read == (caller == "plain")


def test_the_state_is_that_of_its_predictors_and_holds_no_prediction():
    program = PredictivePRefine(bank=[CHEAP])
    state = program.dump_state(json_mode=True)
    assert set(state) == {"memory.generate", "memory.refine", "caller.call_tool"}
    assert CHEAP not in json.dumps(state)  # a bank is one of the options that a manifest keeps
    other = PredictivePRefine()
    other.load_state(json.loads(json.dumps(state)))


def test_options_are_checked():
    for options in ({"verifier": "none"}, {"caller": "both"}, {"threshold": -1}, {"measure": "x"}):
        with pytest.raises(InputError):
            PredictivePRefine(**options)
