"""Retrieval over utterances (PRefine appendix C.2), as a benchmark drives it."""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.types import Note, Session
from programs.memory_backends.protocol import MemoryBackend, Supplies
from programs.memory_backends.system import BackendSystem
from programs.memory_backends.utterances import UtteranceIndex


class RagSystem(BackendSystem):
    """Every utterance of the history is embedded; the `k` nearest to the query are its memory.

    Args:
        k, embedding: see `BackendSystem`.
        calls: executed calls are part of the utterance that executed them; the paper embeds what was said.
    """

    name = "rag"
    library = "dspy"
    asks_lm = False

    def __init__(self, k: int = 5, embedding: str = "local", calls: bool = False) -> None:
        super().__init__(k, embedding, calls)

    def open(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session]) -> MemoryBackend:
        return UtteranceIndex(supplies, notes, self.calls)


__all__ = ["RagSystem"]
