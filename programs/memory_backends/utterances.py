"""Retrieval over utterances: no library, one vector an utterance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prefine_dspy.types import Note, Session
from programs.memory_backends.protocol import Supplies
from programs.memory_backends.texts import utterances


class UtteranceIndex:
    """One user's utterances, searched by cosine similarity.

    Args:
        supplies: of which only the embedding model is used.
        notes: an utterance each.
        calls: executed calls belong to an utterance's text.
    """

    def __init__(self, supplies: Supplies, notes: Sequence[Note], calls: bool) -> None:
        self._embed = supplies.embed
        self._notes = list(notes)
        self._calls = calls

    def add(self, session: Session) -> None:
        said = utterances(session, self._calls)
        new = [Note(id=f"{session.id}:{number}", text=one.line) for number, one in enumerate(said, start=1)]
        self._embed([_said(note) for note in new])  # a vector store would keep it; here it stays in the model's memory
        self._notes += new

    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    def retrieve(self, query: str, k: int) -> list[Note]:
        vectors = np.asarray(self._embed.stored([_said(note) for note in self._notes]))
        asked = np.asarray(self._embed([query])[0])
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
        scores = vectors @ asked / np.maximum(lengths, 1e-12)
        return [self._notes[place] for place in np.argsort(-scores, kind="stable")[:k]]

    def close(self) -> None:
        """There is nothing to give up."""


def _said(note: Note) -> str:
    """What was said, without who said it."""
    return note.text.partition(": ")[2]
