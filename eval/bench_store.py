"""`python -m eval.bench_store [--postgres URL]`: reads and updates a second of the preference store, without an LM.

An update here is the store's whole part in one: lock, read memory and record, write version and session. Its updater
answers at once, so the figures are the most that a store could do; an LM takes seconds for the same update. Users are
chosen at random (seeded) among 1 and among --users; the rest of them is there before, each with two sessions.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sqlalchemy import create_engine, insert, make_url, text

from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.store import PreferenceStore
from prefine_dspy.store.errors import one_line
from prefine_dspy.store.tables import sessions, versions
from prefine_dspy.types import Memory, MemoryUpdate, Session, ToolCall

CALL = ToolCall.of("GetFlights", flight_class="Economy", airlines="Delta", passengers="2")
TEXT = "The user prefers low-cost options: economy seats, modest hotels and free entry, whatever the trip is for."
TRACE = tuple({"stage": stage, "hypothesis": TEXT} for stage in ("generate", "verify", "refine", "verify"))
BATCH = 5_000
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def instant(memory: Memory, seen: Sequence[Session]) -> MemoryUpdate:
    """An updater that costs nothing."""
    return MemoryUpdate(memory=Memory(text=TEXT, version=memory.version + 1), accepted=True, attempts=TRACE)


def populate(url: str, users: int) -> None:
    """Write users with two sessions each, past the store's methods: those are measured, and would take minutes here."""
    engine = create_engine(make_url(url.replace("postgresql://", "postgresql+psycopg://")))
    memory = Memory(text=TEXT, version=1).model_dump_json(exclude={"sessions"})
    now = datetime.now(UTC).isoformat()
    for start in range(0, users, BATCH):
        numbered = [(f"user{user}", n) for user in range(start, min(users, start + BATCH)) for n in (1, 2)]
        version = {"cause": "session", "at": now, "memory": memory, "pinned": False, "accepted": True}
        version |= {"attempts": "[]", "lm": "instant", "program": "none"}
        with engine.begin() as connection:
            connection.execute(insert(versions), [{"user_id": user, "number": n, **version} for user, n in numbered])
            connection.execute(
                insert(sessions),
                [
                    {
                        "user_id": user,
                        "number": n,
                        "session_id": f"s{n}",
                        "record": Session(id=f"s{n}", calls=(CALL,)).model_dump_json(),
                    }
                    for user, n in numbered
                ],
            )
    engine.dispose()


def a_second(action: Callable[[int], object], seconds: float) -> tuple[float, float]:
    """How often an action is done in a second, and the median milliseconds of one."""
    taken: list[float] = []
    started = time.perf_counter()
    while (before := time.perf_counter()) - started < seconds:
        action(len(taken))
        taken.append(time.perf_counter() - before)
    return len(taken) / sum(taken), 1000 * statistics.median(taken)


def measure(url: str, users: int, seconds: float) -> list[tuple[str, float, float]]:
    """(what, times a second, median milliseconds) with one client."""
    with PreferenceStore(url) as store:
        populate(url, users)
        chance = random.Random(0)
        run = uuid.uuid4().hex[:8]
        anyone = [f"user{chance.randrange(users)}" for _ in range(200_000)]
        call = Session(id="new", calls=(CALL,))

        def read(at: int) -> object:
            return store.get(anyone[at % len(anyone)])

        def update(at: int) -> object:
            return store.update(anyone[at % len(anyone)], call.model_copy(update={"id": f"{run}-{at}"}), instant)

        found = [("reads", *a_second(read, seconds)), ("updates", *a_second(update, seconds))]
        started = time.perf_counter()
        store.forget("user0")
        taken = time.perf_counter() - started
        return [*found, ("forget one user", 1 / taken, 1000 * taken)]


@contextmanager
def schema_of(url: str) -> Iterator[str]:
    """A PostgreSQL schema for one measurement, dropped afterwards."""
    if not url.startswith("postgres"):
        raise InputError("give the server as postgresql://USER:PASSWORD@HOST:PORT/NAME (.ci/postgres starts one)")
    name = f"bench_{uuid.uuid4().hex}"
    server = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with one_line(server.render_as_string(hide_password=True)), engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    try:
        own = server.update_query_dict({"options": f"-csearch_path={name}"})
        yield own.render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        engine.dispose()


@app.command()
def main(
    postgres: Annotated[str | None, typer.Option(help="also measure this server (.ci/postgres starts one)")] = None,
    users: Annotated[int, typer.Option(min=1, help="the larger number of users")] = 100_000,
    seconds: Annotated[float, typer.Option(min=0.1, help="how long each figure is measured")] = 5.0,
) -> None:
    """Measure reads and updates a second with 1 user and with many, on SQLite and on PostgreSQL."""
    table = Table("store", "users", "what", "a second", "median ms")
    try:
        for number in (1, users):
            with tempfile.TemporaryDirectory() as folder:
                _add(table, "SQLite", number, measure(f"sqlite:///{Path(folder) / 'm.db'}", number, seconds))
            if postgres:
                with schema_of(postgres) as url:
                    _add(table, "PostgreSQL", number, measure(url, number, seconds))
    except PrefineError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    Console().print(table)


def _add(table: Table, store: str, users: int, found: list[tuple[str, float, float]]) -> None:
    for what, rate, median in found:
        table.add_row(store, f"{users:,}", what, f"{rate:,.1f}", f"{median:,.2f}")


if __name__ == "__main__":
    app()
