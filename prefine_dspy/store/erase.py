"""After a deletion: leave nothing of it in the database's files."""

from __future__ import annotations

from sqlalchemy import text

from prefine_dspy.store.database import Database
from prefine_dspy.store.errors import StoreError
from prefine_dspy.store.tables import sessions, versions


def erase_deleted(database: Database) -> None:
    """Make deleted rows unreadable in the files.

    SQLite overwrites deleted content (secure_delete), but pages that were reorganised may still hold copies and the
    write-ahead log holds older pages: VACUUM writes the whole file anew from living rows, and the checkpoint empties
    the log. It takes time in proportion to the file. On PostgreSQL, VACUUM gives the space of dead rows free to be
    written over; the server's write-ahead log, replicas and backups age out by its own settings.

    Raises:
        StoreError: another process kept reading old pages; the rows are deleted, but the log could not be emptied.
    """
    if not database.sqlite:
        with database.bare() as connection:
            connection.execute(text(f"VACUUM {versions.name}, {sessions.name}"))
        return
    with database.bare() as connection:
        connection.exec_driver_sql("VACUUM")
        busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
    if busy:
        raise StoreError(
            f"the user's rows are deleted, but another process is reading {database.path} and keeps its log: "
            "forget once more when it has ended"
        )
