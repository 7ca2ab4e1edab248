"""LangMem (PRefine appendix C.4), as a benchmark drives it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from prefine_dspy.errors import MissingExtra
from prefine_dspy.types import Note, Session
from programs.memory_backends.protocol import MemoryBackend, Supplies
from programs.memory_backends.system import BackendSystem


class LangMemSystem(BackendSystem):
    """Snippets and a profile that LangMem has its LM write after every session; the `k` nearest are the memory.

    Args:
        k, embedding, calls: see `BackendSystem`.
    """

    name = "langmem"
    library = "langmem"
    loggers = ("extraction", "langmem")  # trustcall, which reads the LM's calls for it, logs as "extraction"

    def __init__(self, k: int = 5, embedding: str = "local", calls: bool = True) -> None:
        if importlib.util.find_spec("langmem") is None:
            raise MissingExtra("langmem", "langmem")
        super().__init__(k, embedding, calls)

    def open(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session]) -> MemoryBackend:
        from programs.memory_backends.langmem_store import LangMemStore

        return LangMemStore(supplies, notes, self.calls)


__all__ = ["LangMemSystem"]
