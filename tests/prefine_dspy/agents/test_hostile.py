"""Whatever an LM answers, an agent goes on: 200 damaged answers and as many damaged observations an agent."""

from __future__ import annotations

import json
import random

import pytest
from agent_world import CHANGE, GET, TOOLS, Fields, asked, heard, order, returned, run, say

from prefine_dspy.agents import COUNTS, IDSS, IterResearch, ReAct, Reply, ReSum, StateAct, Stop, UFold
from prefine_dspy.types import ToolCall

AGENTS = [IDSS(), IDSS(facts=False), IDSS(state=False), ReAct(), StateAct(), ReSum(budget=60), IterResearch(), UFold()]
STATE = {
    "intents": [{"name": "change", "status": "active", "depends_on": ["look.completed"]}],
    "variables": [{"name": "colour", "value": "red", "source": "askable"}],
    "constraints": [
        {"condition": "open", "status": "violated", "guards": ["change"], "check": "order o1.status == open"}
    ],
}
_ODD = [
    "",
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "null",
    "\ud83d",
    "\x00",
    "</state>",
    "<state>",
    "NaN",
    "1e999",
    "’",
    "日本",
    "```",
]


def damaged(text: str, rng: random.Random) -> str:
    """The text with one to four things wrong with it."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        until = min(len(text), at + rng.randint(0, 40))
        text = rng.choice(
            [
                text[:at],
                text[at:],
                text[:at] + text[until:],
                text[:at] + rng.choice(_ODD) * rng.randint(1, 3) + text[at:],
                text[:at] + text[at:until] * 3 + text[at:],
                text[:at] + str(rng.choice([[], {}, 7, None, True])) + text[until:],
                "{" * rng.randint(1, 400) + text,
            ]
        )
    return text


def whole(request, rng: random.Random) -> dict[str, object]:
    """A good answer to a request."""
    values = {"action": rng.choice([GET, CHANGE, say("Shall I?")]), "state": STATE}
    shapes = asked(request)
    return {
        name: values[name] if shape.get("type") != "string" and name in values else name
        for name, shape in shapes.items()
    }


@pytest.mark.parametrize("agent", AGENTS, ids=lambda one: type(one).__name__)
def test_damaged_answers_never_raise(agent):
    rng = random.Random(type(agent).__name__)
    script = Fields([])
    script._answer = lambda request: damaged(json.dumps(whole(request, rng)), rng)
    decisions = []
    for _ in range(20):
        course = [heard("Make it red."), returned(order()), heard("Yes."), returned(order(status="sent"))] * 3
        decisions += run(agent, script, course[:10])
    assert len(decisions) == 200
    for decision in decisions:
        action = decision.action
        assert isinstance(action, Reply | ToolCall)
        assert TOOLS.problems(action) == [] if isinstance(action, ToolCall) else action.text.strip()
        json.dumps(decision.notes, ensure_ascii=False).encode()
        assert all(isinstance(decision.notes.get(name, 0), int) for name in COUNTS)
    unusable = sum("unparsed" in one.notes or "refused" in one.notes for one in decisions)
    assert 20 < unusable < 200, "the damage is real, and not all of it is fatal"


@pytest.mark.parametrize("agent", AGENTS, ids=lambda one: type(one).__name__)
def test_damaged_observations_never_raise(agent):
    rng = random.Random(1)
    script = Fields([])
    script._answer = lambda request: whole(request, rng)
    returns = [returned(damaged(order(note="x", items=[{"id": 1}]), rng), error=rng.random() < 0.2) for _ in range(30)]
    users = [heard(damaged("I want it red.", rng)) for _ in range(10)]
    decisions = run(agent, script, [heard(""), *users, *returns, returned("")])
    assert len(decisions) == 42 and not any(isinstance(one.action, Stop) for one in decisions)


@pytest.mark.parametrize(
    "answer", ["[" * 30_000, '{"action":' * 3_000, "{" * 100_000, "", "\x00", '{"action": {"reply": 1}}']
)
def test_extreme_answers_are_counted(answer):
    for agent in (IDSS(), ReAct(), UFold()):
        script = Fields([])
        script._answer = lambda request: answer
        (decision,) = run(agent, script, [heard("wish")])
        assert decision.notes["unparsed"] == 1
