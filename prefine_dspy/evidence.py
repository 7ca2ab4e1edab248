"""What of a session may be evidence for a lasting preference, and what recurs in it."""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Choice, Session, ToolCall


def persistent_calls(session: Session, tools: Catalogue) -> tuple[ToolCall, ...]:
    """The session's calls without transient arguments; calls that have nothing left are dropped."""
    kept = (tools.persistent(call) for call in session.calls)
    return tuple(call for call in kept if call.arguments)


def choices(sessions: Sequence[Session], tools: Catalogue) -> list[Choice]:
    """Every (function, argument, value) that was chosen, with its sessions: most frequent first, then most recent."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    for session in sessions:
        for call in persistent_calls(session, tools):
            for triplet in call.triplets():
                where = seen.setdefault(triplet, [])
                if session.id not in where:
                    where.append(session.id)
    last = {session.id: number for number, session in enumerate(sessions)}
    found = [Choice(function=f, argument=a, value=v, sessions=tuple(where)) for (f, a, v), where in seen.items()]
    return sorted(found, key=lambda one: (-len(one.sessions), -last[one.sessions[-1]]))


def recurring(sessions: Sequence[Session], tools: Catalogue, most: int) -> tuple[Choice, ...]:
    """The choices made in at least two sessions, `most` of them at the most."""
    return tuple(one for one in choices(sessions, tools) if len(one.sessions) > 1)[:most]
