"""The tables of a store, their version, and how a store of that version is opened."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Connection, Integer, MetaData, String, Table, Text, UniqueConstraint, text

from prefine_dspy.errors import InputError
from prefine_dspy.store.limits import MAX_ID

SCHEMA = 1
_SETUP_LOCK = 0x70726566696E65  # "prefine": the advisory lock under which PostgreSQL tables are made

metadata = MetaData()

meta = Table("prefine_store", metadata, Column("schema_version", Integer, primary_key=True))

versions = Table(
    "prefine_versions",
    metadata,
    Column("user_id", String(MAX_ID), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("cause", String(16), nullable=False),
    Column("at", String(40), nullable=False),
    Column("memory", Text, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("attempts", Text, nullable=False),
    Column("lm", String(MAX_ID), nullable=False),
    Column("program", String(MAX_ID), nullable=False),
)

# A session has the number of the version that it made: what a version has seen are the sessions up to its number.
sessions = Table(
    "prefine_sessions",
    metadata,
    Column("user_id", String(MAX_ID), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("session_id", String(MAX_ID), nullable=False),
    Column("record", Text, nullable=False),
    UniqueConstraint("user_id", "session_id"),
)


def prepare(connection: Connection, where: str) -> None:
    """Make the tables of a new store, or check those of an old one; inside a transaction that writes.

    Raises:
        InputError: a newer release wrote this store.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _SETUP_LOCK})
    meta.create(connection, checkfirst=True)
    found = connection.scalar(meta.select())
    if found is None:
        metadata.create_all(connection)
        connection.execute(meta.insert().values(schema_version=SCHEMA))
    elif found > SCHEMA:
        raise InputError(
            f"the store {where} was written by a newer release (schema {found}, this one reads {SCHEMA}): "
            "pip install --upgrade prefine-dspy"
        )
