"""Where groups are worked on, as the runner asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from eval.run_folder import RunFolder
from eval.tasks.attempt import RunGuard
from eval.tasks.task import Phase

Place = Callable[[int, Phase], Phase]
"""The number of a phase in its run, the phase -> the phase as it is to be run: threads of this process go through its
groups, whoever does the work."""


class Engine(Protocol):
    """Opened once a run."""

    def opened(self, folder: RunFolder, guard: RunGuard, workers: int) -> AbstractContextManager[Place]: ...


class ThisProcess:
    """The threads that go through the groups do the work."""

    @contextmanager
    def opened(self, folder: RunFolder, guard: RunGuard, workers: int) -> Iterator[Place]:
        """Phases stay as they are."""
        yield lambda number, phase: phase
