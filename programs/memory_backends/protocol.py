"""What a library is to the four systems that remember with one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from prefine_dspy.types import Note, Session
from programs.memory_backends.account import Account
from programs.memory_backends.embedding import CountedEmbedding
from programs.memory_backends.library_lm import LibraryLM


class Supplies(NamedTuple):
    """All that a library may use, while its store is open.

    Args:
        lm: for writing.
        embed: for writing and retrieving.
        folder: empty, for its files; removed when the store is closed.
        account: what it does is written down here.
    """

    lm: LibraryLM
    embed: CountedEmbedding
    folder: Path
    account: Account


class MemoryBackend(Protocol):
    """One user's store inside a library, opened from the notes of a `Memory` and closed after one update or retrieval.

    Nothing outlives it but the notes: so an update is a function of the notes, the session and the LM's answers, a run
    that is killed and resumed makes the same memories, and memories.jsonl alone restores them anywhere.
    """

    def add(self, session: Session) -> None:
        """Write what the library makes of a session. May raise whatever the library raises."""

    def notes(self) -> tuple[Note, ...]:
        """The content: what was there, in its order, then what is new, in an order that repeats."""

    def retrieve(self, query: str, k: int) -> Sequence[Note]:
        """The `k` notes nearest to the query, nearest first."""

    def close(self) -> None:
        """Give up files and connections."""
