"""What a prompt holds of an episode: one line an entry, oldest first, so that a growing text keeps its prefix."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple

from prefine_dspy.agents.protocol import Observation, Reply, Stop
from prefine_dspy.parsing_values import clean_text
from prefine_dspy.types import ToolCall

UNUSED = "(this answer could not be used: {})"
"""Takes the place of an action that was not done, so that the LM does not write it again."""


class Entry(NamedTuple):
    """One line.

    Args:
        kind: "user", "agent" (a message), "call", "result", or a field of the agent's own ("thought", "state").
        text: of it.
    """

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass
class Transcript:
    """The entries of one episode."""

    entries: list[Entry] = field(default_factory=list)

    def add(self, kind: str, text: str) -> None:
        """An entry; empty ones are left out."""
        if text:
            self.entries.append(Entry(kind, clean_text(text)))

    def observe(self, observation: Observation) -> None:
        """What the agent reads; also an empty tool return is one."""
        kind = "user" if observation.source == "user" else "error" if observation.error else "result"
        self.entries.append(Entry(kind, clean_text(observation.text)))

    def did(self, action: ToolCall | Reply | Stop) -> None:
        """What the agent does."""
        if isinstance(action, ToolCall):
            self.add("call", call_text(action))
        else:
            self.add("agent", action.text)

    def render(self) -> str:
        """All entries as text."""
        return "\n".join(map(str, self.entries))


def call_text(call: ToolCall) -> str:
    """A call on one line: `get_booking({"booking_id":"K7"})`."""
    arguments = json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"{call.name}({arguments})"
