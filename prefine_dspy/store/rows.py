"""Rows to nouns and back. Every statement here names the user."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, select

from prefine_dspy.store.limits import bounded_trace, storable
from prefine_dspy.store.records import Version
from prefine_dspy.store.tables import sessions, versions
from prefine_dspy.types import Memory, Session


def latest(connection: Connection, user: str) -> Version | None:
    """The user's present version, or None; without its calls."""
    query = select(versions).where(versions.c.user_id == user).order_by(versions.c.number.desc()).limit(1)
    row = connection.execute(query).mappings().first()
    return _version(row) if row is not None else None


def all_versions(connection: Connection, user: str) -> list[Version]:
    """Oldest first, with the calls of their sessions."""
    seen = dict(_numbered(connection, user))
    query = select(versions).where(versions.c.user_id == user).order_by(versions.c.number)
    return [_version(row, seen.get(row["number"])) for row in connection.execute(query).mappings()]


def session_ids(connection: Connection, user: str) -> tuple[str, ...]:
    """All sessions ever observed, oldest first."""
    query = select(sessions.c.session_id).where(sessions.c.user_id == user).order_by(sessions.c.number)
    return tuple(connection.scalars(query))


def last_sessions(connection: Connection, user: str, most: int | None = None) -> list[Session]:
    """What was kept of the `most` last sessions, oldest first."""
    return [session for _, session in _numbered(connection, user, most)]


def find_session(connection: Connection, user: str, session_id: str) -> Session | None:
    """What was kept of one session, or None."""
    query = select(sessions.c.record).where(sessions.c.user_id == user, sessions.c.session_id == session_id)
    record = connection.scalar(query)
    return None if record is None else Session.model_validate_json(record)


def add_version(connection: Connection, user: str, version: Version) -> None:
    """Append; an existing number is the database's IntegrityError."""
    connection.execute(
        insert(versions).values(
            user_id=user,
            number=version.number,
            cause=version.cause,
            at=version.at.astimezone(UTC).isoformat(),
            memory=_json(version.memory.model_dump(mode="json", exclude={"sessions"})),
            pinned=version.pinned,
            accepted=version.accepted,
            attempts=_json(bounded_trace(version.attempts)),
            lm=version.lm,
            program=version.program,
        )
    )


def add_session(connection: Connection, user: str, number: int, kept: Session) -> None:
    """Append what is kept of the session that makes version `number`."""
    record = _json(kept.model_dump(mode="json"))
    connection.execute(insert(sessions).values(user_id=user, number=number, session_id=kept.id, record=record))


def remove(connection: Connection, user: str) -> int:
    """Delete all rows of the user; how many there were."""
    gone = [connection.execute(delete(table).where(table.c.user_id == user)).rowcount for table in (versions, sessions)]
    return sum(gone)


def _numbered(connection: Connection, user: str, most: int | None = None) -> Sequence[tuple[int, Session]]:
    query = select(sessions.c.number, sessions.c.record).where(sessions.c.user_id == user)
    rows = connection.execute(query.order_by(sessions.c.number.desc()).limit(most)).all()
    return [(number, Session.model_validate_json(record)) for number, record in reversed(rows)]


def _version(row: RowMapping, session: Session | None = None) -> Version:
    return Version(
        number=row["number"],
        cause=row["cause"],
        at=datetime.fromisoformat(row["at"]),
        memory=Memory.model_validate_json(row["memory"]),
        pinned=row["pinned"],
        accepted=row["accepted"],
        session=session.id if session else None,
        calls=session.calls if session else (),
        attempts=json.loads(row["attempts"]),
        lm=row["lm"],
        program=row["program"],
    )


def _json(value: Any) -> str:
    """JSON escapes NUL, which PostgreSQL refuses; what cannot be encoded at all comes from an LM and is replaced."""
    return storable(json.dumps(value, ensure_ascii=False, default=str))
