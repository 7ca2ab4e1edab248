"""Sessions and updaters for the store's tests."""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.types import Memory, MemoryUpdate, Session, ToolCall, Turn


def session(name: str, seat: str = "Economy") -> Session:
    call = ToolCall.of("GetFlights", flight_class=seat)
    turns = (Turn(role="user", text=f"what I said in {name}"), Turn(role="assistant", text="done", calls=(call,)))
    return Session(id=name, turns=turns, calls=(call,))


def accept(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
    """An updater that always has a new hypothesis: it names the sessions it was given."""
    text = "saw " + " ".join(one.id for one in sessions)
    after = Memory(text=text, version=memory.version + 1)
    return MemoryUpdate(memory=after, accepted=True, attempts=({"stage": "generate", "hypothesis": text},))


def refuse(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
    """An updater that never accepts."""
    return MemoryUpdate(memory=memory, attempts=({"stage": "stop", "reason": "no new candidate"},))
