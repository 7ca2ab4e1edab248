"""PreferenceStore: what is remembered of many users, kept in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from prefine_dspy.errors import InputError
from prefine_dspy.evidence import persistent_calls
from prefine_dspy.store import rows
from prefine_dspy.store.database import Database
from prefine_dspy.store.erase import erase_deleted
from prefine_dspy.store.errors import one_line
from prefine_dspy.store.limits import MAX_ID, check_id, check_memory, check_session, check_text, storable
from prefine_dspy.store.records import Export, Version
from prefine_dspy.store.user_lock import user_lock
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, MemoryUpdate, Session

Updater = Callable[[Memory, Sequence[Session]], MemoryUpdate]
"""`(memory, sessions) -> MemoryUpdate`, as `HypothesisMemory` makes it: sessions oldest first, the last one is new."""


class PreferenceStore:
    """Memories by user id. There is no default user: every method asks for one.

    A store may be used by many threads and processes at once. Changes of one user wait for each other; those of
    different users do not, however long their LM takes. A process that forks opens its store after the fork.

    Args:
        url: "sqlite:///path" or a path, "postgresql://...", or None for $PREFINE_STORE or a file in the user's data
            folder.
        keep_dialogue: keep what was said in a session too. Without it only the executed calls are kept, which is all
            that the verifier reads (PRefine section 5.1 with record="calls").
        window: how many of the last sessions an updater is given; all of them are kept.
        wait: seconds that a change waits for another one of the same user.
        create: make a SQLite file that is not there.

    Raises:
        InputError: a URL, an id or a text that cannot be used.
        StoreError: the database failed; nothing was changed.

    Example:
        store = PreferenceStore()
        update = store.update("ana", session, lambda memory, sessions: builder(memory, sessions, tools))
        store.get("ana").text
    """

    def __init__(
        self,
        url: str | Path | None = None,
        *,
        keep_dialogue: bool = False,
        window: int = 200,
        wait: float = 600.0,
        create: bool = True,
    ) -> None:
        if window < 1:
            raise InputError(f"window must be 1 or more sessions, not {window}")
        self.keep_dialogue = keep_dialogue
        self.window = window
        self.wait = wait
        self._database = Database(url, create)

    def close(self) -> None:
        """Give the connections back."""
        self._database.engine.dispose()

    def __enter__(self) -> PreferenceStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, user: str) -> Memory:
        """The user's memory; an empty one for a user who was never seen."""
        check_id("user", user)
        with one_line(self._database.where), self._database.read() as connection:
            found = rows.latest(connection, user)
            return _with_sessions(found, rows.session_ids(connection, user))

    def latest(self, user: str) -> Version | None:
        """The user's present version (without its calls), or None for a user who was never seen."""
        check_id("user", user)
        with one_line(self._database.where), self._database.read() as connection:
            return rows.latest(connection, user)

    def sessions(self, user: str) -> list[Session]:
        """What is kept of the user's sessions, the `window` last ones, oldest first."""
        check_id("user", user)
        with one_line(self._database.where), self._database.read() as connection:
            return rows.last_sessions(connection, user, self.window)

    def history(self, user: str) -> list[Version]:
        """All versions of the user's memory, oldest first; none for a user who was never seen."""
        check_id("user", user)
        with one_line(self._database.where), self._database.read() as connection:
            return rows.all_versions(connection, user)

    def update(
        self,
        user: str,
        session: Session,
        updater: Updater,
        *,
        tools: Catalogue | None = None,
        lm: str = "",
        program: str = "",
    ) -> MemoryUpdate:
        """Observe one session.

        The updater is given the memory and the user's last sessions, the new one with its dialogue, and may take its
        time. It is not asked while a correction is pinned. When it raises, nothing is kept, the session neither. A
        session that was observed before changes nothing, so that an agent may send it again after a crash.

        Args:
            updater: see `Updater`.
            tools: those of the session; with them, transient arguments (dates, places) are not kept either.
            lm: identity of the LM behind it, for the version's record.
            program: fingerprint of the program behind it.

        Raises:
            InputError: among others, when the session's id was used for other calls before.
        """
        check_id("user", user)
        check_session(session)
        kept = self._kept(session, tools)
        check_text("LM's name", lm, MAX_ID)
        check_text("program's name", program, MAX_ID)
        with self._changing(user):
            with self._database.read() as connection:
                base = rows.latest(connection, user)
                before = rows.session_ids(connection, user)
                seen = rows.find_session(connection, user, session.id) if session.id in before else None
                earlier = [] if base and base.pinned else rows.last_sessions(connection, user, self.window - 1)
            memory = _with_sessions(base, before)
            if seen is not None:
                return _again(memory, kept, seen)
            update = self._ask(updater, memory, [*earlier, session], bool(base and base.pinned))
            update = _settled(update, (*before, session.id))
            number = (base.number if base else 0) + 1
            version = Version(
                number=number,
                cause="session",
                at=datetime.now(UTC),
                memory=update.memory,
                pinned=bool(base and base.pinned),
                accepted=update.accepted,
                attempts=update.attempts,
                lm=lm,
                program=program,
            )
            with self._database.write() as connection:
                rows.add_version(connection, user, version)
                rows.add_session(connection, user, number, kept)
            return update

    def correct(self, user: str, text: str, pinned: bool = True) -> Memory:
        """Replace the hypothesis by a person's own words.

        Args:
            text: the new hypothesis; an empty one means that nothing is to be assumed of this user.
            pinned: later sessions do not change it until `unpin`.
        """
        check_id("user", user)
        text = " ".join(check_text("correction", text).split())
        with self._changing(user), self._database.write() as connection:
            base = rows.latest(connection, user)
            before = base.memory if base else Memory()
            memory = Memory(text=text, version=before.version + 1)
            return self._append(connection, user, base, memory, cause="correction", pinned=pinned, accepted=True)

    def unpin(self, user: str) -> Memory:
        """Let later sessions change the hypothesis again; until then it stays what it is."""
        check_id("user", user)
        with self._changing(user), self._database.write() as connection:
            base = rows.latest(connection, user)
            if base is None or not base.pinned:
                return _with_sessions(base, rows.session_ids(connection, user))
            return self._append(connection, user, base, base.memory, cause="unpin", pinned=False)

    def forget(self, user: str) -> bool:
        """Remove everything of a user, and leave nothing readable in the database's files (see `erase_deleted`).

        The store has no cache of its own. An `Agent` uses none either; an updater of another kind is best given an LM
        with `cache=False`, as DSPy's cache on disk holds prompts.

        Returns:
            whether there was anything.
        """
        check_id("user", user)
        with self._changing(user):
            with self._database.write() as connection:
                gone = rows.remove(connection, user)
            erase_deleted(self._database)
        return gone > 0

    def export(self, user: str) -> dict[str, Any]:
        """Everything that is kept of a user, as a JSON object (see `Export`)."""
        check_id("user", user)
        with one_line(self._database.where), self._database.read() as connection:
            versions = tuple(one.model_copy(update={"calls": ()}) for one in rows.all_versions(connection, user))
            sessions = tuple(rows.last_sessions(connection, user))
        return Export(user=user, sessions=sessions, versions=versions).model_dump(mode="json")

    def import_(self, user: str, document: dict[str, Any]) -> Memory:
        """Take in what `export` gave, under a user id that has nothing yet.

        Raises:
            InputError: the document is not one, or the user has a memory already.
        """
        check_id("user", user)
        try:
            export = Export.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "document"
            raise InputError(f"this is no exported memory: {place}: {first['msg']}") from None
        _check_export(export)
        by_id = {session.id: session for session in export.sessions}
        with self._changing(user), self._database.write() as connection:
            if rows.latest(connection, user) is not None:
                raise InputError("this user has a memory already: forget it first, or import under another id")
            for version in export.versions:
                rows.add_version(connection, user, version)
                if version.session is not None:
                    rows.add_session(connection, user, version.number, by_id[version.session])
            return _with_sessions(rows.latest(connection, user), rows.session_ids(connection, user))

    @contextmanager
    def _changing(self, user: str) -> Iterator[None]:
        with one_line(self._database.where), user_lock(self._database, user, self.wait):
            yield

    def _append(self, connection: Any, user: str, base: Version | None, memory: Memory, **fields: Any) -> Memory:
        number = (base.number if base else 0) + 1
        version = Version(number=number, at=datetime.now(UTC), memory=memory, **fields)
        rows.add_version(connection, user, version)
        return _with_sessions(version, rows.session_ids(connection, user))

    def _kept(self, session: Session, tools: Catalogue | None) -> Session:
        if self.keep_dialogue:
            return session
        return Session(id=session.id, calls=persistent_calls(session, tools) if tools else session.calls)

    @staticmethod
    def _ask(updater: Updater, memory: Memory, sessions: list[Session], pinned: bool) -> MemoryUpdate:
        if pinned:
            reason = "a correction is pinned"
            return MemoryUpdate(memory=memory, attempts=({"stage": "skip", "reason": reason},))
        return updater(memory, sessions)


def _with_sessions(version: Version | None, sessions: tuple[str, ...]) -> Memory:
    memory = version.memory if version else Memory()
    return memory.model_copy(update={"sessions": sessions})


def _settled(update: MemoryUpdate, sessions: tuple[str, ...]) -> MemoryUpdate:
    """The update as it can be kept: the sessions are those that the store has seen, the text can be encoded."""
    text = storable(update.memory.text).replace("\x00", "")
    memory = check_memory(update.memory.model_copy(update={"sessions": sessions, "text": text}))
    return update.model_copy(update={"memory": memory})


def _again(memory: Memory, kept: Session, seen: Session) -> MemoryUpdate:
    if kept.calls != seen.calls:
        raise InputError("this session's id was used for other calls before: give every session an id of its own")
    return MemoryUpdate(memory=memory, attempts=({"stage": "skip", "reason": "the session was observed before"},))


def _check_export(export: Export) -> None:
    """Refuse a document that `export` cannot have made."""
    for session in export.sessions:
        check_session(session)
    for version in export.versions:
        check_memory(version.memory)
        check_text("LM's name", version.lm, MAX_ID)
        check_text("program's name", version.program, MAX_ID)
    numbers = [version.number for version in export.versions]
    if numbers != list(range(1, len(numbers) + 1)):
        raise InputError("this is no exported memory: the versions are not numbered 1, 2, 3 ...")
    made = [version.session for version in export.versions if version.session is not None]
    if made != [session.id for session in export.sessions] or len(set(made)) != len(made):
        raise InputError("this is no exported memory: its versions and its sessions do not fit together")
