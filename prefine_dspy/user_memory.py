"""UserMemory: all that an agent must keep of one user between sessions, in one value."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from prefine_dspy.evidence import persistent_calls
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, Session

MAX_SESSIONS = 200
"""Sessions whose calls are kept as the record that the next update is verified against; older ones are forgotten."""


class UserMemory(BaseModel):
    """A user's hypothesis together with the record of executed calls that the next update needs.

    Immutable, compares by value, and is JSON: `model_dump_json()`, `UserMemory.model_validate_json(text)`. What was
    said is not kept, except for programs that read whole dialogues (`Agent.keeps_dialogue`); transient arguments never.

    Args:
        memory: the hypothesis, its version, the ids of the sessions of the record and before.
        record: the lasting calls of the last `MAX_SESSIONS` sessions, oldest first.
        basis: ids of the sessions that held evidence when the present hypothesis was accepted.
        seen: how many sessions have been observed in all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: Memory = Memory()
    record: tuple[Session, ...] = ()
    basis: tuple[str, ...] = ()
    seen: int = 0

    @classmethod
    def of(cls, memory: Memory, sessions: Sequence[Session] = ()) -> UserMemory:
        """A memory from elsewhere (a `PreferenceStore`) with the sessions that are kept of the user."""
        record = tuple(sessions)[-MAX_SESSIONS:]
        basis = tuple(one.id for one in record if one.calls) if memory.text else ()
        return cls(memory=memory, record=record, basis=basis, seen=max(len(sessions), len(memory.sessions)))

    @property
    def text(self) -> str:
        """The hypothesis; empty before the first one."""
        return self.memory.text

    @property
    def version(self) -> int:
        """How many hypotheses have been accepted so far."""
        return self.memory.version

    def after(self, session: Session, memory: Memory, accepted: bool, tools: Catalogue, dialogue: bool) -> UserMemory:
        """The value after a session.

        Args:
            session: the new one.
            memory: the hypothesis after it.
            accepted: whether that is a new one.
            tools: tells transient from lasting arguments.
            dialogue: keep what was said in it.
        """
        kept = Session(id=session.id, turns=session.turns if dialogue else (), calls=persistent_calls(session, tools))
        record = (*self.record, kept)[-MAX_SESSIONS:]
        return UserMemory(
            memory=memory.model_copy(update={"sessions": memory.sessions[-MAX_SESSIONS:]}),
            record=record,
            basis=tuple(one.id for one in record if one.calls) if accepted else self.basis,
            seen=self.seen + 1,
        )
