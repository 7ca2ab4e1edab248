"""Which stores open, and what is said of those that do not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from store_sessions import accept, session

from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.store import PreferenceStore, StoreError
from prefine_dspy.store.tables import SCHEMA


def test_a_newer_store_is_refused_in_one_line(url: str) -> None:
    with PreferenceStore(url) as store:
        store.update("ana", session("s1"), accept)
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE prefine_store SET schema_version = :newer"), {"newer": SCHEMA + 1})
    engine.dispose()
    with pytest.raises(InputError, match=r"newer release \(schema 2.*pip install --upgrade") as caught:
        PreferenceStore(url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        "mysql://host/name",
        "sqlite://",
        "sqlite:///:memory:",
        "://",
        "postgresql+nothing://h/n",
        "postgresql://h:port/n",
        "a" * 300,
    ],
)
def test_urls_that_are_no_store(bad: str) -> None:
    with pytest.raises(PrefineError) as caught:
        PreferenceStore(bad)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, and long enough to be looked at " * 50, encoding="utf-8")
    with pytest.raises(StoreError, match="not a database") as caught:
        PreferenceStore(tmp_path / "notes.txt")
    assert "\n" not in str(caught.value)


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no store at"):
        PreferenceStore(tmp_path / "m.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_password_is_not_told() -> None:
    with pytest.raises(StoreError, match=r"\*\*\*") as caught:
        PreferenceStore("postgresql://ana:hunter2@127.0.0.1:1/name?connect_timeout=2")
    assert "hunter2" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_failure_tells_no_data(tmp_path: Path) -> None:
    with PreferenceStore(tmp_path / "m.db") as store:
        store.correct("ana", "canary")
        with sqlite3.connect(tmp_path / "m.db") as broken:
            broken.execute("DROP TABLE prefine_sessions")
        broken.close()
        with pytest.raises(StoreError, match="no such table") as caught:
            store.update("ana", session("canary"), accept)
    assert "canary" not in str(caught.value) and "\n" not in str(caught.value)


def test_the_default_place_is_the_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFINE_STORE", str(tmp_path / "m.db"))
    with PreferenceStore() as store:
        store.correct("ana", "prefers the aisle")
    with PreferenceStore(tmp_path / "m.db") as store:
        assert store.get("ana").text == "prefers the aisle"
