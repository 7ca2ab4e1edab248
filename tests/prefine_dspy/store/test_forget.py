"""Nothing of a forgotten user is left in any byte of the store's folder."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from store_sessions import session

from prefine_dspy.store import PreferenceStore, StoreError
from prefine_dspy.types import Memory, MemoryUpdate, Session, ToolCall

USER = "ana-canary-4711-żółć"
TEXT = "canary-hypothesis-0815"
VALUE = "canary-value-2342-日本"
CORRECTION = "canary-correction-9999"
SESSION = "canary-session-77"


def traces(folder: Path) -> list[str]:
    """Files of the folder that hold one of the canaries, in any form they are written in."""
    forms = []
    for canary in (USER, TEXT, VALUE, CORRECTION, SESSION):
        forms += [canary.encode("utf-8"), canary.encode("utf-16-le"), json.dumps(canary)[1:-1].encode("ascii")]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(form in path.read_bytes() for form in forms) or "canary" in path.name]


def remember(store: PreferenceStore, user: str, text: str, value: str, name: str, times: int) -> None:
    for number in range(times):

        def updater(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
            after = Memory(text=f"{text} {len(sessions)}", version=memory.version + 1)
            return MemoryUpdate(memory=after, accepted=True, attempts=({"hypothesis": text * 50},))

        one = Session(id=f"{name}-{number}", calls=(ToolCall.of("GetFlights", airlines=value),))
        store.update(user, one, updater)


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    # others come before, between and after, so that pages are shared, split and merged
    with PreferenceStore(tmp_path / "m.db", keep_dialogue=True) as store:
        for number in range(15):
            remember(store, f"other{number}", "plain text", "Delta", "s", 2)
            remember(store, USER, TEXT, VALUE, f"{SESSION}-{number}", 4)
        store.correct(USER, CORRECTION)
        assert set(traces(tmp_path)) & {"m.db", "m.db-wal"}, "the canaries would be found if they were there"
        assert store.forget(USER)
        assert traces(tmp_path) == [], "while the store is open"
        assert store.get("other3").sessions == ("s-0", "s-1")
        remember(store, "later", "plain text", "Delta", "s", 3)
        assert traces(tmp_path) == []
    assert traces(tmp_path) == [], "after it was closed"


def test_nothing_is_left_when_another_process_has_the_store_open(tmp_path: Path) -> None:
    child = (
        "import sys; from prefine_dspy.store import PreferenceStore; s = PreferenceStore(sys.argv[1]);"
        "print(s.get(sys.argv[2]).text, flush=True); sys.stdin.readline(); print(repr(s.get(sys.argv[2]).text))"
    )
    with PreferenceStore(tmp_path / "m.db") as store:
        remember(store, USER, TEXT, VALUE, SESSION, 3)
        arguments = [sys.executable, "-c", child, str(tmp_path / "m.db"), USER]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
            assert process.stdout and process.stdout.readline().startswith(TEXT)
            store.forget(USER)
            assert traces(tmp_path) == []
            assert process.communicate("\n")[0].strip() == "''"


def test_a_reader_that_stays_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefine_dspy.store.database._BUSY_MS", 200)
    with PreferenceStore(tmp_path / "m.db") as store:
        remember(store, USER, TEXT, VALUE, SESSION, 1)
        reader = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM prefine_versions").fetchall()
        with pytest.raises(StoreError, match="forget once more"):
            store.forget(USER)
        assert store.latest(USER) is None
        reader.close()
        store.forget(USER)
        assert traces(tmp_path) == []


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    with PreferenceStore(tmp_path / "new" / "m.db") as store:
        store.update("ana", session("s1"), lambda memory, sessions: MemoryUpdate(memory=memory))
        if os.name == "posix":
            assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "new").iterdir())


@pytest.mark.postgres
def test_rows_are_gone_from_postgres(postgres_url: str) -> None:
    from sqlalchemy import create_engine, text

    with PreferenceStore(postgres_url) as store:
        remember(store, USER, TEXT, VALUE, SESSION, 3)
        store.forget(USER)
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        for table in ("prefine_versions", "prefine_sessions"):
            assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0
            assert connection.scalar(text(f"SELECT pg_relation_size('{table}')")) == 0, "vacuum gave the pages back"
    engine.dispose()
