"""What a store accepts: user ids and texts come from outside and may be anything."""

from __future__ import annotations

import json
from typing import Any

from prefine_dspy.errors import InputError
from prefine_dspy.types import Memory, Session

MAX_ID = 256
"""Characters of a user's, a session's or a program's id: what an index row of every database can hold."""
MAX_TEXT = 4_000
"""Characters of a hypothesis or a correction: it is read again with every query."""
MAX_SESSION = 262_144
"""Characters of one session as JSON."""
MAX_TRACE = 32_768
"""Characters of one update's trace as JSON; the first steps of a longer one are left out."""


def check_id(what: str, value: str) -> str:
    """An id that every database keeps exactly as it is.

    Args:
        what: for the message: "user", "session" ...

    Raises:
        InputError: empty, too long, or holding what no database stores (NUL, half of a surrogate pair).
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"a {what} id is needed: give a text that is not empty")
    return check_text(f"{what} id", value, MAX_ID)


def check_text(what: str, value: str, most: int = MAX_TEXT) -> str:
    """A text within its limit.

    Raises:
        InputError: too long, or not storable as Unicode text.
    """
    if len(value) > most:
        raise InputError(f"the {what} has {len(value):,} characters; give at most {most:,}")
    if "\x00" in value or not _encodable(value):
        raise InputError(f"the {what} holds characters that cannot be stored (NUL or an unpaired surrogate)")
    return value


def check_session(session: Session) -> Session:
    """A session that can be kept.

    Raises:
        InputError: its id or its size is not acceptable, or it is not Unicode text.
    """
    check_id("session", session.id)
    text = json.dumps(session.model_dump(), ensure_ascii=False, default=str)
    if len(text) > MAX_SESSION:
        raise InputError(f"the session has {len(text):,} characters as JSON; give at most {MAX_SESSION:,}")
    if not _encodable(text):
        raise InputError("the session holds characters that cannot be stored (an unpaired surrogate)")
    return session


def check_memory(memory: Memory) -> Memory:
    """A memory that can be kept: its sessions are kept elsewhere and do not count.

    Raises:
        InputError: the hypothesis or what stands beside it is too long, or not Unicode text.
    """
    check_text("hypothesis", memory.text)
    size = len(json.dumps(memory.model_dump(mode="json", exclude={"sessions"})))
    if size > MAX_SESSION:
        raise InputError(f"the memory has {size:,} characters as JSON; at most {MAX_SESSION:,} are kept")
    return memory


def bounded_trace(attempts: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """The last steps that fit `MAX_TRACE`; a first entry says how many were left out."""
    kept: list[dict[str, Any]] = []
    size = 0
    for attempt in reversed(attempts):
        size += len(json.dumps(attempt, default=str))
        if size > MAX_TRACE:
            kept.append({"stage": "cut", "left_out": len(attempts) - len(kept)})
            break
        kept.append(attempt)
    return tuple(reversed(kept))


def storable(text: str) -> str:
    """An LM's text, which may hold halves of surrogate pairs, as text that can be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
