"""The nouns: calls, turns, sessions, histories, queries, memories (PRefine section 3).

All of them are immutable, compare by value and turn to and from JSON (`model_dump`, `model_validate`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Noun(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Noun):
    """One call `name(argument = value, ...)`.

    Args:
        name: the function, e.g. "GetFlights".
        arguments: JSON values by argument name, in the order they were given. A list means that the argument
            was given several times, as MPT's call strings allow.
    """

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, name: str, **arguments: Any) -> ToolCall:
        """`ToolCall.of("GetFlights", flight_class="Economy")`."""
        return cls(name=name, arguments=arguments)

    def triplets(self) -> Iterator[tuple[str, str, str]]:
        """(function, argument, value) of every value, values as text: the unit that all metrics count."""
        for argument, value in self.arguments.items():
            for one in value if isinstance(value, list) else [value]:
                yield self.name, argument, value_text(one)

    def __str__(self) -> str:
        """MPT's call string: `GetFlights(flight_class="Economy", passengers="1")`."""
        inside = ", ".join(f'{argument}="{value}"' for _, argument, value in self.triplets())
        return f"{self.name}({inside})"


def value_text(value: Any) -> str:
    """A value as MPT writes it: text as it is, booleans as True/False, the rest as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return str(value)
    return json.dumps(value, ensure_ascii=False)


class Turn(_Noun):
    """One utterance, with the calls that the agent executed in it."""

    role: Literal["user", "assistant"]
    text: str
    calls: tuple[ToolCall, ...] = ()


class Session(_Noun):
    """One past dialogue and what was executed in it.

    Args:
        id: unique inside its history.
        turns: the dialogue.
        calls: the executed calls that count as the session's record, in order (may be fewer than the turns show:
            corrected calls are overwritten).
    """

    id: str
    turns: tuple[Turn, ...] = ()
    calls: tuple[ToolCall, ...] = ()


class History(_Noun):
    """The sessions of one user, oldest first."""

    id: str
    sessions: tuple[Session, ...] = ()


class Query(_Noun):
    """The turns of a new session up to the decision on a tool call."""

    id: str
    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, text: str, id: str = "query") -> Query:
        return cls(id=id, turns=(Turn(role="user", text=text),))


class Choice(_Noun):
    """A value that this user chose, and in which sessions."""

    function: str
    argument: str
    value: str
    sessions: tuple[str, ...]


class Note(_Noun):
    """One entry of a memory that is a collection (Mem0, LangMem, A-MEM, retrieval), not one hypothesis.

    Args:
        id: unique in its memory.
        text: as it is shown to an LM.
        session: id of the session that wrote it last; empty when unknown.
        data: what else its library keeps of it, as JSON.
    """

    id: str
    text: str
    session: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class Memory(_Noun):
    """What is remembered of one user: one short hypothesis about their latent preference (PRefine section 5.1).

    Args:
        text: the hypothesis; empty before the first accepted one.
        version: how many hypotheses have been accepted so far.
        sessions: ids of the sessions seen, oldest first.
        evidence: recurring choices kept beside the hypothesis, most frequent first; usually none.
        notes: of the memory libraries; PRefine has none.
    """

    text: str = ""
    version: int = 0
    sessions: tuple[str, ...] = ()
    evidence: tuple[Choice, ...] = ()
    notes: tuple[Note, ...] = ()


class MemoryUpdate(_Noun):
    """What one session did to a memory.

    Args:
        memory: the memory after the session; the old text when nothing was accepted.
        accepted: a new hypothesis replaced the old one.
        attempts: the trace, in order: one JSON object a step (its `stage`, the hypothesis, the verdict ...).
        parse_failures: LM answers of this update that could not be used.
    """

    memory: Memory
    accepted: bool = False
    attempts: tuple[dict[str, Any], ...] = ()
    parse_failures: int = 0
