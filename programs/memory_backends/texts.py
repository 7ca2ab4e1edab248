"""Sessions as libraries read them, notes as the caller reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from prefine_dspy.rendering import calls_text
from prefine_dspy.types import Note, Query, Session


class Utterance(NamedTuple):
    """Args:
    role: "user" or "assistant".
    text: what was said, and perhaps what was executed.
    """

    role: str
    text: str

    @property
    def line(self) -> str:
        """`User: ...`."""
        return f"{self.role.capitalize()}: {self.text}"


def utterances(session: Session, calls: bool) -> list[Utterance]:
    """The turns of a session.

    Args:
        session: as it was.
        calls: write the executed calls behind the turn that executed them; behind the last turn when the session does
            not say which did.
    """
    said = []
    for number, turn in enumerate(session.turns, start=1):
        executed = turn.calls if calls else ()
        if calls and number == len(session.turns) and not any(one.calls for one in session.turns):
            executed = session.calls
        said.append(Utterance(turn.role, f"{turn.text}\nExecuted: {calls_text(executed)}" if executed else turn.text))
    return said


def messages(session: Session, calls: bool) -> list[dict[str, str]]:
    """`utterances` as chat messages."""
    return [{"role": one.role, "content": one.text} for one in utterances(session, calls)]


def search_text(query: Query) -> str:
    """What is embedded of a query."""
    return "\n".join(turn.text for turn in query.turns)


def notes_text(notes: Iterable[Note]) -> str:
    """One line a note."""
    return "\n".join(f"- {' '.join(note.text.split())}" for note in notes)
