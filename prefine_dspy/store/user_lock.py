"""One change of a user's memory at a time, across threads and processes; different users never wait for each other.

An update waits for an LM for seconds, so no transaction is held meanwhile: SQLite would make all users wait. Both locks
below end by themselves when their process dies.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from filelock import Timeout as FileLockTimeout
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, OperationalError

from prefine_dspy.store.database import Database
from prefine_dspy.store.errors import StoreError

_LONGEST_PAUSE = 0.02  # seconds


@contextmanager
def user_lock(database: Database, user: str, seconds: float) -> Iterator[None]:
    """Hold the lock of one user.

    Args:
        seconds: how long to wait for another holder.

    Raises:
        StoreError: it is still held after that time.
    """
    key = int.from_bytes(hashlib.sha256(user.encode("utf-8")).digest()[:8], "big") >> 2  # 62 bits
    if database.path is None:
        held = _advisory(database, key, seconds)
    elif os.name == "nt":
        held = _file(database.path, key, seconds)
    else:
        held = _range_of(_lock_file(database.path)).hold(key, seconds)
    with held:
        yield


def _too_late(seconds: float) -> StoreError:
    return StoreError(f"another update of this user has not ended within {seconds:g} seconds; try again later")


@contextmanager
def _advisory(database: Database, key: int, seconds: float) -> Iterator[None]:
    """PostgreSQL's lock of a session: it needs a connection, but no transaction."""
    with database.bare() as connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}):
            _wait(connection, key, seconds)
        try:
            yield
        finally:
            try:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": key})
            except DBAPIError:
                connection.invalidate()  # closed: the server has dropped the lock, or drops it now


def _wait(connection: Connection, key: int, seconds: float) -> None:
    """The server wakes the one that has waited longest."""
    milliseconds = str(max(1, int(seconds * 1000)))
    connection.execute(text("SELECT set_config('lock_timeout', :ms, false)"), {"ms": milliseconds})
    try:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", "") == "55P03":  # lock_not_available
            raise _too_late(seconds) from None
        raise
    finally:
        connection.execute(text("RESET lock_timeout"))


@contextmanager
def _file(path: Path, key: int, seconds: float) -> Iterator[None]:
    """Windows has no locks on ranges that fit: a file a user, which goes with its lock."""
    lock = FileLock(f"{path}.{key:x}.lock")
    try:
        lock.acquire(timeout=seconds)
    except FileLockTimeout:
        raise _too_late(seconds) from None
    try:
        yield
    finally:
        lock.release()


class _Ranges:
    """Locks on single bytes of one empty file, a byte a user: nothing of a user is written anywhere.

    The system keeps such locks for a process, not for a thread, and drops all of them when the process closes the file
    once: hence the set of held keys, and one descriptor that stays open.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        self._held: set[int] = set()
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, key: int, seconds: float) -> Iterator[None]:
        end = time.monotonic() + seconds
        with self._changed:
            if not self._changed.wait_for(lambda: key not in self._held, timeout=seconds):
                raise _too_late(seconds)
            self._held.add(key)
        try:
            self._lock(key, end, seconds)
            try:
                yield
            finally:
                self._set(key, locked=False)
        finally:
            with self._changed:
                self._held.discard(key)
                self._changed.notify_all()

    def _lock(self, key: int, end: float, seconds: float) -> None:
        # The waiting lock of the system takes two threads of two processes for a deadlock; so we ask again instead.
        pause = 0.0005
        while not self._set(key, locked=True):
            if time.monotonic() > end:
                raise _too_late(seconds)
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _set(self, key: int, locked: bool) -> bool:
        import fcntl  # not on Windows

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if locked else fcntl.LOCK_UN, 1, key)
        except (BlockingIOError, PermissionError):
            return False
        return True


_open: dict[Path, _Ranges] = {}
_open_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.clear)  # a child holds none of its parent's locks


def _lock_file(path: Path) -> Path:
    return path.with_name(path.name + "-lock")


def _range_of(path: Path) -> _Ranges:
    with _open_lock:
        if path not in _open:
            _open[path] = _Ranges(path)
        return _open[path]
