"""What the tools answer: the JSON that an MCP client gets."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from prefine_dspy.store import Version
from prefine_dspy.types import Memory, MemoryUpdate

if TYPE_CHECKING:
    from prefine_dspy.result import Result


class FilledCall(BaseModel):
    """A call; for each argument where it came from (origin: given, query, memory, default or inferred) and how sure."""

    name: str
    arguments: dict[str, Any]
    sources: dict[str, dict[str, Any]]
    missing: list[str] = Field(default=[], description="Required arguments that nothing defends: ask the user.")


class Completion(BaseModel):
    """The calls to make; none when the request means none of the tools."""

    calls: list[FilledCall]
    explanation: str
    pinned: bool = Field(description="The memory used is the user's own correction.")


class Shown(BaseModel):
    """What is remembered of a user."""

    known: bool
    hypothesis: str = ""
    version: int = 0
    pinned: bool = Field(default=False, description="The user's own correction: sessions do not change it.")
    sessions: list[str] = Field(default=[], description="Ids of the sessions observed.")
    changed: datetime | None = None


class Observed(BaseModel):
    """What a session did to the memory."""

    session: str
    accepted: bool = Field(description="The session led to a new hypothesis.")
    hypothesis: str
    version: int
    reason: str = Field(default="", description="Why nothing changed, if that is known.")


class Forgotten(BaseModel):
    """Whether there was anything to forget."""

    forgotten: bool


def completion_of(result: Result, latest: Version | None) -> Completion:
    calls = [
        FilledCall(
            name=call.name,
            arguments=dict(call.arguments),
            sources={name: source.model_dump(mode="json", exclude_defaults=True) for name, source in sources.items()},
            missing=list(missing),
        )
        for call, sources, missing in zip(result.calls, result.sources, result.missing, strict=True)
    ]
    return Completion(calls=calls, explanation=result.explain(), pinned=bool(latest and latest.pinned))


def observed_of(session: str, update: MemoryUpdate) -> Observed:
    last = update.attempts[-1] if update.attempts else {}
    reason = "" if update.accepted else str(last.get("reason") or last.get("feedback") or "no candidate was accepted")
    memory = update.memory
    return Observed(
        session=session, accepted=update.accepted, hypothesis=memory.text, version=memory.version, reason=reason
    )


def shown_of(memory: Memory, latest: Version | None) -> Shown:
    if latest is None:
        return Shown(known=False)
    return Shown(
        known=True,
        hypothesis=memory.text,
        version=memory.version,
        pinned=latest.pinned,
        sessions=list(memory.sessions),
        changed=latest.at,
    )
