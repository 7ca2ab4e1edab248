"""What a store gives out: versions of a memory, and everything of a user as one document."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from prefine_dspy.types import Memory, Session, ToolCall

Cause = Literal["session", "correction", "unpin"]


class Version(BaseModel):
    """A user's memory at one moment, and what made it so.

    Args:
        number: 1, 2, 3 ... in the order of changes.
        cause: a session was observed, a person corrected the hypothesis, or took the pin from it.
        at: when (UTC).
        memory: the memory since then; its `sessions` is left empty (they are those of the versions so far).
        pinned: the hypothesis is a person's, and sessions do not change it.
        accepted: this version brought a new hypothesis.
        session: the observed session's id.
        calls: what is kept of the calls in it: with those of the versions before, the evidence of this one.
        attempts: the update's trace: candidates and verdicts, in order.
        lm: identity of the LM that made the update.
        program: fingerprint of the program that made it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    cause: Cause
    at: datetime
    memory: Memory
    pinned: bool = False
    accepted: bool = False
    session: str | None = None
    calls: tuple[ToolCall, ...] = ()
    attempts: tuple[dict[str, Any], ...] = ()
    lm: str = ""
    program: str = ""


class Export(BaseModel):
    """Everything that is kept of one user: `export(user)` as JSON is this model's dump.

    Args:
        format: names the document's form.
        user: whose it was; an import says itself whose it becomes.
        sessions: what was kept of each session, oldest first.
        versions: oldest first; their `calls` are left empty (they are in the sessions).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["prefine-memory/1"] = "prefine-memory/1"
    user: str
    sessions: tuple[Session, ...] = ()
    versions: tuple[Version, ...] = ()
