"""A made-up service desk for agents: two tools, a policy, and an LM that answers by the fields it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import dspy
from dspy import lm15
from scripted_lm import Script, lm_of, prompt_of

from prefine_dspy.agents import Briefing, Observation
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import ToolCall

TOOLS = Catalogue(
    [
        Tool(name="get_order", parameters=(Parameter(name="order_id", required=True),)),
        Tool(
            name="change_order",
            parameters=(
                Parameter(name="order_id", required=True),
                Parameter(name="colour", enum=("red", "blue")),
                Parameter(name="express", type="boolean"),
                Parameter(name="items", type="array"),
            ),
        ),
    ]
)
BRIEFING = Briefing("Be exact.", TOOLS)
GET = {"function": "get_order", "arguments": {"order_id": "o1"}}
CHANGE = {"function": "change_order", "arguments": {"order_id": "o1", "colour": "red"}}
STATE = {"intents": [], "variables": [], "constraints": []}


def say(text: str) -> dict[str, str]:
    """An action that is a message."""
    return {"reply": text}


def heard(text: str) -> Observation:
    """The user's words."""
    return Observation(source="user", text=text)


def returned(text: str, error: bool = False, call: ToolCall | None = None) -> Observation:
    """A tool's return; by default of `get_order`."""
    return Observation(source="tool", text=text, error=error, call=call or ToolCall.of("get_order", order_id="o1"))


def order(**fields: Any) -> str:
    """What `get_order` returns."""
    return json.dumps({"order_id": "o1", "status": "open", **fields})


class Fields(Script):
    """Answers every request with all the fields that it asks for.

    Args:
        actions: of the steps, in order.
        values: for other fields, by name: a value, or values in order. By default the name of the field.
    """

    def __init__(self, actions: Iterable[Any], **values: Any) -> None:
        self._actions = iter(actions)
        self._values = {name: iter(one) if isinstance(one, list) else one for name, one in values.items()}
        super().__init__(self._fields)

    def _fields(self, request: lm15.Request) -> dict[str, Any]:
        return {name: self._value(name, shape) for name, shape in asked(request).items()}

    def _value(self, name: str, shape: dict[str, Any]) -> Any:
        if name == "action":
            return next(self._actions)
        if name in self._values:
            value = self._values[name]
            return next(value) if hasattr(value, "__next__") else value
        return STATE if shape.get("type") == "object" else f"my {name}"

    @property
    def prompts(self) -> list[str]:
        """Of the steps only."""
        return [prompt_of(one) for one in self.requests if "action" in asked(one)]


def asked(request: lm15.Request) -> dict[str, dict[str, Any]]:
    """The fields of the answer, by their schemas."""
    return dict((request.config.response_format or {}).get("schema", {}).get("properties", {}))


def run(agent: Any, script: Script, observations: Iterable[Observation], briefing: Briefing = BRIEFING) -> list[Any]:
    """The decisions of an agent that observes these one after the other."""
    act: Callable[[Observation], Any] = agent.begin(briefing)
    with dspy.context(lm=lm_of(script)):
        return [act(one) for one in observations]
