"""The residual history: all that was said, every call, and short references in place of what tools returned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from prefine_dspy.situation.extraction import Observation
from prefine_dspy.situation.identity import scalar_text
from prefine_dspy.situation.state_tag import without_state


class Said(NamedTuple):
    """One message. An agent's state tag is never part of it."""

    role: Literal["user", "agent"]
    text: str


@dataclass
class ResidualHistory:
    """What a prompt still holds of the dialogue beside the state (IDSS section 3.2.1).

    Args:
        turns: messages and observations, oldest first.
    """

    turns: list[Said | Observation] = field(default_factory=list)

    def user(self, text: str) -> None:
        """A message of the user."""
        self.turns.append(Said("user", text))

    def agent(self, text: str) -> None:
        """A message of the agent to the user; a `<state>` tag in it is dropped."""
        if said := without_state(text):
            self.turns.append(Said("agent", said))

    def tool(self, observation: Observation) -> None:
        """A call with its return."""
        self.turns.append(observation)

    def lines(self, keep_last: int = 0) -> list[str]:
        """One text a turn.

        Args:
            keep_last: so many of the last returns stay as they came, readable once outside the facts.
        """
        observations = [turn for turn in self.turns if isinstance(turn, Observation)]
        kept = {id(turn) for turn in observations[len(observations) - keep_last :]} if keep_last > 0 else set()
        return [_line(turn, id(turn) in kept) for turn in self.turns]

    def render(self, keep_last: int = 0) -> str:
        """The history as text; the step of a call is the one that facts show."""
        return "\n".join(self.lines(keep_last)).encode("utf-8", "replace").decode("utf-8")


def _line(turn: Said | Observation, verbatim: bool) -> str:
    if isinstance(turn, Said):
        return f"{turn.role}: {turn.text}"
    arguments = ", ".join(f"{name}={scalar_text(value)}" for name, value in turn.arguments.items())
    shown = turn.text if verbatim or turn.verbatim else turn.reference.removeprefix("-> ")
    return f"{turn.step}. {turn.tool}({arguments}) -> {shown}".rstrip()
