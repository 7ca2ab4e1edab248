"""Sessions, records and queries as prompt text. Oldest first, so that a growing text keeps its prefix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prefine_dspy.evidence import persistent_calls
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, Query, Session, ToolCall, Turn

NOTHING = "(nothing yet)"


def turns_text(turns: Iterable[Turn]) -> str:
    """One line a turn: `User: ...`."""
    return "\n".join(f"{turn.role.capitalize()}: {turn.text}" for turn in turns)


def calls_text(calls: Iterable[ToolCall]) -> str:
    """The calls on one line, or "none"."""
    return "; ".join(str(call) for call in calls) or "none"


def session_text(session: Session, number: int) -> str:
    """A session with its dialogue and executed calls."""
    return f"[Session {number}]\n{turns_text(session.turns)}\nExecuted: {calls_text(session.calls)}"


def sessions_text(sessions: Sequence[Session]) -> str:
    """Sessions as `(S, A)` of PRefine section 3."""
    return "\n".join(session_text(session, number) for number, session in enumerate(sessions, start=1)) or NOTHING


def history_text(history: History) -> str:
    """A whole history, as full-history prompting reads it."""
    return sessions_text(history.sessions)


def query_text(query: Query) -> str:
    """The turns up to the decision."""
    return turns_text(query.turns)


def memory_text(memory: Memory) -> str:
    """The memory as the caller reads it: the hypothesis, then what recurred, if that is kept."""
    if not memory.evidence:
        return memory.text
    choices = ", ".join(f"{one.argument}={one.value} ({len(one.sessions)} times)" for one in memory.evidence)
    return f"{memory.text}\nChosen repeatedly: {choices}"


def record_text(sessions: Sequence[Session], tools: Catalogue) -> str:
    """The executed calls as behavioural record: one line a session that holds evidence.

    Its length does not depend on how long the dialogues were.
    """
    lines = [
        f"Session {number}: {line}"
        for number, session in enumerate(sessions, start=1)
        if (line := choices_text(persistent_calls(session, tools)))
    ]
    return "\n".join(lines) or NOTHING


def choices_text(calls: Iterable[ToolCall]) -> str:
    """The values of some calls, the value before its tool: `flight_class=Economy (GetFlights)`.

    A small model that reads whole calls writes about tools ("prefers flights"); so it writes about values.
    """
    return "; ".join(f"{argument}={value} ({name})" for call in calls for name, argument, value in call.triplets())
