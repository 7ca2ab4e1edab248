"""From a URL to a database that is ready: SQLite in one file, or a PostgreSQL server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.store import tables
from prefine_dspy.store.errors import one_line

_BEGIN = "prefine_begin"
_BUSY_MS = 30_000
_DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}


def default_url() -> str:
    """$PREFINE_STORE, or a file in the user's data folder."""
    folder = Path(platformdirs.user_data_dir("prefine_dspy"))
    return os.environ.get("PREFINE_STORE") or f"sqlite:///{folder / 'memories.db'}"


class Database:
    """An open store's connections.

    Args:
        url: "sqlite:///path", a path, "postgresql://user:password@host/name", or None for `default_url()`.
        create: make a SQLite file that is not there.

    Raises:
        InputError: no such kind of database, no such file, not a store, or a store of a newer release.
        StoreError: it cannot be reached.
    """

    def __init__(self, url: str | Path | None = None, create: bool = True) -> None:
        self.url = _parse(url)
        self.where = self.url.render_as_string(hide_password=True)
        self.path = Path(self.url.database or "").resolve() if self.sqlite else None
        if self.path:
            _make_file(self.path, create)
        self.engine = _engine(self.url)
        try:
            with one_line(self.where), self.write() as connection:
                tables.prepare(connection, self.where)
        except BaseException:
            self.engine.dispose()
            raise

    @property
    def sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the database."""
        options: dict[str, Any] = {} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes: all of it or nothing."""
        with self.engine.connect().execution_options(**{_BEGIN: "BEGIN IMMEDIATE"}) as connection:
            with connection.begin():
                yield connection

    @contextmanager
    def bare(self) -> Iterator[Connection]:
        """A connection without transactions, for statements that cannot run in one."""
        options: dict[str, Any] = {_BEGIN: ""} if self.sqlite else {"isolation_level": "AUTOCOMMIT"}
        with self.engine.connect().execution_options(**options) as connection:
            yield connection


def _parse(url: str | Path | None) -> URL:
    text = str(url or default_url())
    try:
        parsed = make_url(text if "://" in text else f"sqlite:///{text}")
    except (ArgumentError, ValueError):  # a port that is no number
        raise InputError("the store's URL cannot be read: give sqlite:///PATH or postgresql://HOST/NAME") from None
    if parsed.drivername not in _DRIVERS:
        raise InputError(
            f"a store cannot be kept in {parsed.drivername}: give sqlite:///PATH or postgresql://HOST/NAME"
        )
    parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
    if parsed.drivername == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise InputError("a store in SQLite needs a file: give sqlite:///PATH")
    return parsed


def _make_file(path: Path, create: bool) -> None:
    """The empty file, readable by its owner alone: SQLite gives its journal the same rights."""
    try:
        if path.exists():
            return
        if not create:
            raise InputError(f"there is no store at {path}; give another with --url, or observe a session first")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise InputError(f"the store {path} cannot be made: {error.strerror}; give another place with --url") from None


def _engine(url: URL) -> Engine:
    # hide_parameters: what a statement was given is a user's data and must not end in a log.
    if url.get_backend_name() == "postgresql":
        try:
            # A connection is held while an LM works, so that users do not wait for each other's connections.
            return create_engine(url, hide_parameters=True, max_overflow=-1, pool_pre_ping=True)
        except ModuleNotFoundError:
            raise MissingExtra("a store in PostgreSQL", "postgres") from None
    engine = create_engine(url, hide_parameters=True, max_overflow=-1, connect_args={"timeout": _BUSY_MS / 1000})
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    for pragma in (
        f"busy_timeout={_BUSY_MS}",
        "journal_mode=WAL",  # readers do not wait for a writer
        "synchronous=FULL",  # a correction survives a power cut
        "secure_delete=ON",  # what is deleted is overwritten
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    if statement := connection.get_execution_options().get(_BEGIN, "BEGIN"):
        connection.exec_driver_sql(statement)
