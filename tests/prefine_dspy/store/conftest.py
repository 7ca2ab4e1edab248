"""Stores to test: a new SQLite file, and a schema of its own on a PostgreSQL server where one is given."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from prefine_dspy.store import PreferenceStore


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A schema that is dropped after the test."""
    given = os.environ.get("PREFINE_TEST_POSTGRES_URL")
    if not given:
        pytest.skip("PREFINE_TEST_POSTGRES_URL names no server (.ci/postgres starts one)")
    url = make_url(given).set(drivername="postgresql+psycopg")
    schema = f"test_{uuid.uuid4().hex}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield url.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store of either kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'store' / 'memories.db'}"


@pytest.fixture
def store(url: str) -> Iterator[PreferenceStore]:
    with PreferenceStore(url) as opened:
        yield opened
