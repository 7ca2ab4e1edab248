"""What a user did, choice by choice: the record that hypotheses are held against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prefine_dspy.evidence import persistent_calls
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Session


class Observation(NamedTuple):
    """One value that the user chose once.

    Args:
        session: id of the session.
    """

    function: str
    argument: str
    value: str
    session: str

    def __str__(self) -> str:
        """ "price_range=cheap (GetRestaurants)", as the generator reads choices."""
        return f"{self.argument}={self.value} ({self.function})"


def observations(sessions: Iterable[Session], tools: Catalogue) -> list[Observation]:
    """The lasting choices of sessions, oldest first."""
    return [
        Observation(function, argument, value, session.id)
        for session in sessions
        for call in persistent_calls(session, tools)
        for function, argument, value in call.triplets()
    ]


def session_weights(sessions: Sequence[str], half_life: float | None) -> dict[str, float]:
    """How much each session counts: 1 for the last, half for one that is `half_life` sessions older.

    Args:
        sessions: ids, oldest first.
        half_life: in sessions; None counts all alike.
    """
    if half_life is None:
        return dict.fromkeys(sessions, 1.0)
    return {id: 0.5 ** ((len(sessions) - 1 - at) / half_life) for at, id in enumerate(sessions)}


def sessions_to_change(half_life: float | None, before: int) -> int:
    """After how many sessions of the opposite choice the new one outweighs the old, one choice a session.

    With a half-life of h it is never more than h + 1, however long the user held the old one.

    Args:
        half_life: in sessions; None counts all alike, and it takes more sessions than there were before.
        before: how many sessions the old choice was made in.
    """
    new = 0
    while True:
        new += 1
        weights = list(session_weights([str(n) for n in range(before + new)], half_life).values())
        if sum(weights[before:]) > sum(weights[:before]):
            return new
