"""Every example, run as it is, on LMs that repeat what they read: the class is said in the first session only."""

import asyncio
import importlib.util
import json
from pathlib import Path

import dspy
import pytest
from booking import REMEMBERED, STATED, booking_agent, booking_script
from openai_server import openai_server
from scripted_lm import Script, lm_of, prompt_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_openai_tool_loop():
    openai = pytest.importorskip("openai")
    requests = []
    with openai_server(requests) as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        answers = example("openai_tool_loop").main(client, booking_agent())
    assert answers == [f"{STATED}, 1 seat(s)", f"{REMEMBERED}, 1 seat(s)"]
    # the memory's value was executed, but is not in the conversation as if the model had decided it
    logged = requests[-1]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(logged) == {"destination": "Paris"}


def test_dspy_react():
    def react(request):
        text = prompt_of(request)
        if "next_tool_name" not in text:
            return "[[ ## reasoning ## ]]\nBooked.\n\n[[ ## answer ## ]]\n" + str(booked(text)[-1])
        asked = request.messages[-1].text
        done = booked(asked)
        arguments = {"destination": "Paris" if "Paris" in asked else "Rome"}
        if "economy" in asked:
            arguments["flight_class"] = "Economy"
        return (
            "[[ ## next_thought ## ]]\nBook it.\n\n"
            f"[[ ## next_tool_name ## ]]\n{'finish' if done else 'book_flight'}\n\n"
            f"[[ ## next_tool_args ## ]]\n{'{}' if done else json.dumps(arguments)}\n\n[[ ## completed ## ]]"
        )

    def booked(text):
        return [line for line in (STATED, REMEMBERED) if line in text]

    script = Script(react)
    assert example("dspy_react").main(lm_of(script), booking_agent()) == [STATED, REMEMBERED]
    assert dspy.settings.lm is None


def test_langgraph_agent():
    pytest.importorskip("langgraph")
    script = booking_script()
    assert asyncio.run(example("langgraph_agent").main(agent=booking_agent(script))) == [STATED, REMEMBERED]


def test_mcp_client():
    pytest.importorskip("mcp")
    assert asyncio.run(example("mcp_client").main(booking_agent())) == [STATED, REMEMBERED]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_stays_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
