"""What an agent of this package is to a loop: it is briefed, then each observation leads to one action.

act = ReAct().begin(Briefing(policy, tools))
decision = act(Observation(source="user", text="Please cancel my booking."))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, ToolCall


class _Noun(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reply(_Noun):
    """A message to the user."""

    kind: Literal["reply"] = "reply"
    text: str


class Stop(_Noun):
    """The agent ends the conversation.

    Args:
        text: its last words to the user; may be empty.
    """

    kind: Literal["stop"] = "stop"
    text: str = ""


Action = ToolCall | Reply | Stop
"""One action a step: one call, or one message."""


class Observation(_Noun):
    """What the agent gets to read.

    Args:
        source: the user's words, or a tool's return.
        text: as it came.
        call: the call that a tool answered; None for the user.
        error: the tool says that the call failed: its return states no fact.
    """

    source: Literal["user", "tool"]
    text: str
    call: ToolCall | None = None
    error: bool = False


class Briefing(NamedTuple):
    """What an agent knows before the user speaks.

    Args:
        policy: what it has to follow.
        tools: what it may call.
        now: the time, if there is one.
        greeting: what it has already said.
        memory: what is remembered of this user; empty when nothing is.
        trial: tells repetitions of a task apart, so that an LM at a temperature above 0 is asked anew in each (DSPy's
            `rollout_id`).
    """

    policy: str
    tools: Catalogue
    now: str | None = None
    greeting: str = ""
    memory: Memory = Memory()
    trial: int = 0


class Decision(NamedTuple):
    """An agent's next action.

    Args:
        action: what to do.
        notes: what to write down beside it, JSON only; see `prefine_dspy.agents.notes`.
    """

    action: Action
    notes: dict[str, Any] = {}


Act = Callable[[Observation], Decision]


class Agent(Protocol):
    """Something that can begin episodes. Everything that an episode keeps lives in what `begin` returns, so that one
    agent serves threads."""

    def begin(self, briefing: Briefing) -> Act:
        """A new episode: a function from what was just observed to the next action."""
        ...
