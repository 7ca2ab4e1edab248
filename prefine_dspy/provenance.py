"""Where each argument of a call came from.

Told from the texts alone, without asking an LM: a value (or its argument's name, for a yes or no) that stands in the
conversation was stated; else, what a memory could have given came from the memory; a tool's default is recognised as
such; the rest an LM inferred from the conversation in other words. An answer that both the conversation and the memory
support counts as stated.

What came from the memory is no evidence for it: `without_filled` takes it out of a session before the session is learnt
from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from prefine_dspy.interop.parameters import schema_of
from prefine_dspy.tools import Parameter
from prefine_dspy.types import Session, ToolCall, value_text
from prefine_dspy.user_memory import UserMemory

Origin = Literal["given", "query", "memory", "default", "inferred"]
_NUMBERS = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()))
_EMPTY_WORDS = frozenset(
    "is are has have with wants want allows allowed needs need include included only a the".split()
)


class Source(BaseModel):
    """Where one argument came from.

    Args:
        origin: "given", stated in the partial call of another agent; "query", stated in the conversation; "memory";
            "default", the tool's; "inferred", read from the conversation in other words.
        version: of the hypothesis, if the origin is the memory.
        sessions: ids of the sessions that support it: those that chose this very value (`exact`), else those that the
            hypothesis was accepted on.
        exact: the sessions chose this very value for this very argument.
        confidence: probability of the value given what stands before it, among the allowed values if these are a closed
            set; None when it is not known.
        why_no_confidence: the reason when `confidence` is None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    origin: Origin
    version: int | None = None
    sessions: tuple[str, ...] = ()
    exact: bool = False
    confidence: float | None = None
    why_no_confidence: str = ""

    def __str__(self) -> str:
        """ "from memory version 2 (sessions s1, s3), confidence 0.94" """
        text = {
            "given": "given in the call",
            "query": "stated in the query",
            "memory": f"from memory version {self.version}",
            "default": "the tool's default",
            "inferred": "inferred from the query",
        }[self.origin]
        if self.sessions:
            text += f" ({'chosen in' if self.exact else 'learnt from'} {', '.join(self.sessions)})"
        return text if self.confidence is None else f"{text}, confidence {self.confidence:.2f}"


def source_of(
    call: ToolCall, argument: str, parameter: Parameter | None, query: str, memory: UserMemory, memory_text: str
) -> Source:
    """The source of one argument, without confidence.

    Args:
        call: in JSON types.
        parameter: the argument's, or None if the tool does not know it.
        query: the conversation as text.
        memory: the user's.
        memory_text: the memory as the LM read it; empty when there was none.
    """
    value = call.arguments[argument]
    if is_stated(value, argument, query):
        return Source(origin="query")
    support = _sessions_with(call.name, argument, value, memory)
    transient = parameter is not None and parameter.transient
    if parameter is not None and not support and schema_of(parameter).get("default", ...) == value:
        return Source(origin="default")
    if memory_text and not transient:
        return Source(origin="memory", version=memory.version, sessions=support or memory.basis, exact=bool(support))
    return Source(origin="inferred")


def without_filled(session: Session, filled: Iterable[tuple[ToolCall, Mapping[str, str]]]) -> Session:
    """The session without the arguments that its calls took from the memory, so that a memory does not confirm itself.

    Kept are those that the user said themselves in the session's turns, and those that were executed with another
    value than the memory's. What the user confirmed in other words ("yes, do that"), leave out of `filled`.

    Args:
        session: as it was executed.
        filled: the calls that were completed in it, each with the origin of its arguments by name (see `Source`).
    """
    from_memory = {
        (call.name, argument, value_text(value))
        for call, origins in filled
        for argument, value in call.arguments.items()
        if origins.get(argument) == "memory"
    }
    if not from_memory:
        return session
    said = "\n".join(turn.text for turn in session.turns if turn.role == "user")

    def own(call: ToolCall) -> ToolCall:
        kept = {
            argument: value
            for argument, value in call.arguments.items()
            if (call.name, argument, value_text(value)) not in from_memory or is_stated(value, argument, said)
        }
        return ToolCall(name=call.name, arguments=kept)

    turns = tuple(turn.model_copy(update={"calls": tuple(map(own, turn.calls))}) for turn in session.turns)
    return session.model_copy(update={"turns": turns, "calls": tuple(map(own, session.calls))})


def is_stated(value: Any, argument: str, query: str) -> bool:
    """Whether the conversation says this value: all its words in order, its number, or what a yes or no is about."""
    said = f" {_plain(query)} "
    if isinstance(value, bool):
        about = [word for word in _plain(_apart(argument)).split() if word not in _EMPTY_WORDS]
        return bool(about) and all(f" {word} " in said for word in about)
    leaves = list(_leaves(value))
    return bool(leaves) and all(_is_said(leaf, said) for leaf in leaves)


def _is_said(leaf: Any, said: str) -> bool:
    plain = _plain(value_text(leaf))
    word = _NUMBERS.get(int(plain)) if plain.isdecimal() and len(plain) < 3 else None
    return bool(plain) and (f" {plain} " in said or (word is not None and f" {word} " in said))


def _sessions_with(function: str, argument: str, value: Any, memory: UserMemory) -> tuple[str, ...]:
    wanted = {(function, argument, value_text(one)) for one in (value if isinstance(value, list) else [value])}
    return tuple(
        session.id
        for session in memory.record
        if wanted & {triplet for call in session.calls for triplet in call.triplets()}
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    elif value is not None:
        yield value


def _apart(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def _plain(text: str) -> str:
    """Lower case, words apart by one blank, no punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded.replace("_", " ")))
