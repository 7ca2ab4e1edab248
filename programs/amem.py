"""A-MEM (PRefine appendix C.5), as a benchmark drives it.

The library is `a-mem`, a third party's fork of agiresearch/A-mem: the authors' own is on no package index. Its prompts
are theirs, but that neighbours carry their ids and that a rewritten neighbour is embedded again at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.types import Note, Session
from programs.memory_backends.amem_store import AMemStore, modules
from programs.memory_backends.protocol import MemoryBackend, Supplies
from programs.memory_backends.system import BackendSystem


class AMemSystem(BackendSystem):
    """A note for every user-assistant pair, with keywords, tags, context and links; the `k` nearest are the memory.

    Args:
        k, embedding, calls: see `BackendSystem`.
    """

    name = "amem"
    library = "a-mem"
    loggers = ("agentic_memory",)

    def __init__(self, k: int = 5, embedding: str = "local", calls: bool = True) -> None:
        modules()
        super().__init__(k, embedding, calls)

    def open(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session]) -> MemoryBackend:
        return AMemStore(supplies, notes, seen, self.calls)


__all__ = ["AMemSystem"]
