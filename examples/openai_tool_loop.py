"""The OpenAI SDK's tool loop: its model decides on the call, the user's memory completes it.

pip install 'prefine-dspy[local,examples]' && python -m prefine_dspy.lm pull
python examples/openai_tool_loop.py    # with OPENAI_API_KEY, or OPENAI_BASE_URL of any compatible server
"""

from __future__ import annotations

import json
import os
from typing import Any

import openai

import prefine_dspy as pf

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "book_flight",
            "description": "Book a flight.",
            "parameters": {
                "type": "object",
                "properties": {
                    "destination": {"type": "string"},
                    "flight_class": {"type": "string", "enum": ["Economy", "Business", "First"]},
                    "passengers": {"type": "integer", "minimum": 1},
                },
                "required": ["destination"],
            },
        },
    }
]


def book_flight(destination: str, flight_class: str = "any class", passengers: int = 1) -> str:
    """Stands for the tool's own code."""
    return f"booked: {destination}, {flight_class}, {passengers} seat(s)"


def converse(
    client: openai.OpenAI, model: str, agent: pf.Agent, memory: pf.UserMemory | None, request: str
) -> tuple[str, pf.UserMemory]:
    """One session with the user: the last answer, and the memory after it."""
    messages: list[Any] = [{"role": "user", "content": request}]
    for _ in range(8):  # a model that never stops calling tools must not loop for ever
        reply = client.chat.completions.create(model=model, messages=messages, tools=TOOLS).choices[0].message
        said = messages.copy()
        # The log keeps the model's own call. Were the completed one logged, a memory would confirm itself.
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            # After the session: what was executed becomes evidence, failed calls do not.
            return reply.content or "", agent.update(memory, messages, TOOLS)
        for tool_call in reply.tool_calls:
            done = pf.complete(tool_call, memory, TOOLS, query=said, agent=agent)
            print(done.explain())
            result = book_flight(**done.calls[0].arguments)
            messages.append({"role": "tool", "tool_call_id": tool_call.id, "content": json.dumps(result)})
    raise RuntimeError("the model kept calling tools")


def main(client: openai.OpenAI | None = None, agent: pf.Agent | None = None) -> list[str]:
    """Two sessions of one user: the second does not say the class."""
    client = client or openai.OpenAI()
    agent = agent or pf.load("prefine-mpt", lm="local")
    model = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
    answers, memory = [], None
    for request in ("Book me an economy flight to Rome", "Book me a flight to Paris"):
        answer, memory = converse(client, model, agent, memory, request)
        answers.append(answer)
    return answers


if __name__ == "__main__":
    print("\n".join(main()))
