"""Mem0 (PRefine appendix C.3), as a benchmark drives it.

The paper used the hosted service. This is the open-source library, which only adds facts and never rewrites one.
"""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.types import Note, Session
from programs.memory_backends.mem0_store import Mem0Store, memory_class
from programs.memory_backends.protocol import MemoryBackend, Supplies
from programs.memory_backends.system import BackendSystem


class Mem0System(BackendSystem):
    """Facts that mem0 has its LM read out of every session; the `k` nearest to the query are its memory.

    Args:
        k, embedding, calls: see `BackendSystem`.
    """

    name = "mem0"
    library = "mem0ai"
    loggers = ("mem0",)

    def __init__(self, k: int = 5, embedding: str = "local", calls: bool = True) -> None:
        memory_class()
        super().__init__(k, embedding, calls)

    def open(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session]) -> MemoryBackend:
        return Mem0Store(supplies, notes, seen, self.calls)


__all__ = ["Mem0System"]
