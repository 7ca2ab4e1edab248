"""Standing instructions: what a user told an assistant once and for all (NLSI; TAPS section 2)."""

from __future__ import annotations

from prefine_dspy.types import Query, _Noun

__all__ = ["InstructedQuery", "StandingInstruction"]


class StandingInstruction(_Noun):
    """One sentence of a user's profile: "If I ask for Buses, my preferred origin is Anaheim."

    Args:
        id: unique in its profile.
        text: the sentence.
    """

    id: str
    text: str


class InstructedQuery(_Noun):
    """A dialogue that ends with a request, and the instructions of the user who speaks.

    Args:
        query: the dialogue.
        applicable: the instructions that apply, as given (TAPS) or selected (NLSI's first subtask).
        profile: all instructions of the user; empty when unknown.
    """

    query: Query
    applicable: tuple[StandingInstruction, ...] = ()
    profile: tuple[StandingInstruction, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """The applicable instructions' sentences, in order."""
        return tuple(one.text for one in self.applicable)
