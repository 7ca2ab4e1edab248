"""A memory library as a system: it writes after every session, its nearest notes are the memory of a query."""

from __future__ import annotations

import json
import logging
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Note, Query, Session
from programs.memory_backends.account import Account, TokenCounter, estimated_tokens
from programs.memory_backends.embedding import CountedEmbedding, EmbeddingModel
from programs.memory_backends.library_lm import LibraryLM
from programs.memory_backends.protocol import MemoryBackend, Supplies
from programs.memory_backends.texts import notes_text, search_text


class NotesCaller(dspy.Module):
    """The caller that PRefine has, over retrieved notes: only the memory block differs."""

    def __init__(self) -> None:
        super().__init__()
        self.caller = ToolCaller()

    def forward(self, query: Query, tools: Catalogue, notes: Sequence[Note]) -> dspy.Prediction:
        """See `ToolCaller.forward`; the prediction also has `memory_text`, what was shown."""
        text = notes_text(notes)
        prediction = self.caller(query=query, tools=tools, memory=text)
        prediction.memory_text = text
        return prediction


class BackendSystem(ABC):
    """A `System` over one library. A subclass names the library and opens its store.

    Args:
        k: notes shown with a query at most.
        embedding: "local", "minilm", or a LiteLLM name; see `EmbeddingModel`.
        calls: the library reads the executed calls beside the dialogue.

    Attributes:
        folder: where a library's files may be while its store is open; None for the system's temporary folder. A run
            sets it to a folder of its own.
        count: tokens of a text, for embedding tokens. A run sets it to the count that it uses everywhere.
        writer: the model string of the LM that has to write; None for any. A run sets it to its memory LM.

    Raises:
        MissingExtra: the library or the embedding model is not installed.
        InputError: an option cannot be used.
    """

    name: ClassVar[str]
    library: ClassVar[str]
    """The distribution that does the work, as its package index names it."""
    loggers: ClassVar[tuple[str, ...]] = ()
    """Where the library logs errors that it does not raise."""
    asks_lm: ClassVar[bool] = True
    builds_memory = True

    def __init__(self, k: int, embedding: str, calls: bool) -> None:
        if type(k) is not int or k < 1:
            raise InputError(f"k must be a whole number, 1 or more, not {k!r}")
        if not isinstance(calls, bool):
            raise InputError(f"calls must be true or false, not {calls!r}")
        if not isinstance(embedding, str):
            raise InputError(f"embedding must be a name such as local, not {embedding!r}")
        self.k = k
        self.calls = calls
        for logger in self.loggers:
            # what it logs is in the trace of each update; a run's output is no place for it
            logging.getLogger(logger).propagate = False
        self.embedding = EmbeddingModel(embedding)
        self.program = NotesCaller()
        self.folder: Path | None = None
        self.count: TokenCounter = estimated_tokens
        self.writer: str | None = None

    @abstractmethod
    def open(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session]) -> MemoryBackend:
        """The library's store with these notes in it; `seen` are the sessions that they were written from."""

    def describe(self) -> dict[str, Any]:
        """What is at work: the library and its version, the embedding model, k. A run keeps it in its config.json."""
        return {
            "library": self.library,
            "version": version(self.library),
            "embedding": self.embedding.identity,
            "k": self.k,
        }

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`.

        The trace has an object for each answer of the LM that could not be used and for each failure, and a last one
        of stage "write": the counts of `Account`, `written` (notes that are new or changed), `removed`, the LM that
        wrote, the dimensions of the vectors, and what `describe` says.

        Raises:
            InputError: another LM than `writer` wrote.
        """
        session = sessions[-1]
        seen = [one for one in sessions[:-1] if one.id in memory.sessions]
        account = Account(self.count)
        with self._opened(memory.notes, seen, account) as backend:
            if session.turns:
                self._add(backend, session, account)
            after = _dated(backend.notes(), memory.notes, session.id)
        written = len(set(map(_content, after)) - set(map(_content, memory.notes)))
        removed = len({note.id for note in memory.notes} - {note.id for note in after})
        changed = bool(written or removed)
        at_work = {"lm": account.lm, **self.describe(), "dimensions": self.embedding.dimensions}
        done = {"stage": "write", "written": written, "removed": removed, **account.as_json(), **at_work}
        return MemoryUpdate(
            memory=memory.model_copy(
                update={
                    "text": notes_text(after),
                    "version": memory.version + changed,
                    "sessions": (*memory.sessions, session.id),
                    "notes": after,
                }
            ),
            accepted=changed,
            attempts=(*account.replies, done),
            parse_failures=account.unparsed,
        )

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        """The prediction for one query from its nearest notes; the prediction has `retrieval`: their ids, how many
        of the `k` that there are the library left out (`missing`), the counts.

        Raises:
            InputError: the library gave more than `k`.
        """
        notes: Sequence[Note] = ()
        account = Account(self.count)
        if memory.notes:
            with self._opened(memory.notes, (), account) as backend:
                notes = backend.retrieve(search_text(query), self.k)
            account.raise_lost()
        if len(notes) > self.k:
            raise InputError(f"{self.library} {version(self.library)} gave {len(notes)} notes where k is {self.k}")
        prediction = self.program(query=query, tools=tools, notes=notes)
        missing = min(self.k, len(memory.notes)) - len(notes)
        prediction.retrieval = {"notes": [note.id for note in notes], "missing": missing, **account.as_json()}
        return prediction

    @contextmanager
    def _opened(self, notes: Sequence[Note], seen: Sequence[Session], account: Account) -> Iterator[MemoryBackend]:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{self.name}-", dir=self.folder, ignore_cleanup_errors=True) as folder:
            embed = CountedEmbedding(self.embedding, account)
            supplies = Supplies(LibraryLM(account), embed, Path(folder), account)
            with account.reopening():
                backend = self.open(supplies, notes, seen)
            try:
                yield backend
            finally:
                backend.close()

    def _add(self, backend: MemoryBackend, session: Session, account: Account) -> None:
        """Let the library write; only the LM's and the embedding model's exceptions end the update."""
        with account.listening(*self.loggers):
            try:
                backend.add(session)
            except Exception as error:
                if account.error is None:
                    account.failure(f"{type(error).__name__}: {error}")
        account.raise_lost()
        if self.asks_lm and not account.lm_calls:
            account.failure(f"{self.library} did not ask the LM")
        if self.writer is not None and account.lm not in (None, self.writer):
            raise InputError(f"{self.library} asked {account.lm}, and the memories are to be written by {self.writer}")


def _content(note: Note) -> tuple[str, str, str]:
    return note.id, note.text, json.dumps(note.data, sort_keys=True)


def _dated(notes: Sequence[Note], before: Sequence[Note], session: str) -> tuple[Note, ...]:
    """The notes, each with the session that wrote it last."""
    known = {note.id: note for note in before}
    return tuple(
        note.model_copy(update={"session": known[note.id].session})
        if note.id in known and _content(known[note.id]) == _content(note)
        else note.model_copy(update={"session": session})
        for note in notes
    )
