"""What the course of a compilation asks of a benchmark and its programs; `mpt` and `nlsi` give it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import dspy

from prefine_dspy.manifest import DataPart, LMPart, Scores
from programs.compilation.estimate import Stage
from programs.compilation.job import Job, Settings


class Calibrated(NamedTuple):
    """A part that has a figure in place of demonstrations, chosen on dev.

    Args:
        program: with the figure.
        options: of the program's constructor that say it again, for the manifest.
        note: what was chosen, one line.
        table: how it was chosen, for people.
        record: the same for the manifest, plain values.
    """

    program: dspy.Module
    options: dict[str, Any]
    note: str
    table: str
    record: dict[str, Any]


class Task(Protocol):
    """One program on one benchmark, with the train, dev and test splits.

    Args:
        program: the system's short name.
        options: of the library's program, as the manifest keeps them.
        settings: of the optimizer.
        main_figure: which of the figures tells whether compiling helped.
        size_options: what to lower when there is too little budget.
    """

    program: str
    options: dict[str, Any]
    settings: Settings
    main_figure: str
    size_options: str

    def watch(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        """From now on `check` raises when the run has to end (budget, dead LM), and `say` takes lines of progress."""
        ...

    def job(self, part: str, program: Any, optimizer: str) -> Job:
        """One part of a program, to be compiled. May call LMs."""
        ...

    def graft(self, part: str, chosen: dspy.Module, program: Any) -> Any:
        """A copy of the program with the contents of a compiled part."""
        ...

    def calibrate(self, part: str, program: Any) -> Calibrated | None:
        """For a part without demonstrations: the program with its figure. None for the others. May call LMs."""
        ...

    def item_scores(self, program: Any, split: str, tick: Callable[[], None]) -> Sequence[Any]:
        """One score an item of "dev" or "test", in order; `tick` is called `units` times."""
        ...

    def units(self, split: str) -> tuple[int, str]:
        """How many ticks, and of what, the scores of a split take; 0 for an empty one."""
        ...

    def compare(self, split: str, before: Sequence[Any] | None, after: Sequence[Any] | None) -> Scores:
        """The figures of a split with intervals, and their paired differences where both are there."""
        ...

    def calls_before(self) -> int:
        """LM calls of the dev scores of the program that one begins with, about."""
        ...

    def calls_after(self, parts: Sequence[str]) -> int:
        """LM calls of the scores that come last, about: dev after, test before and after."""
        ...

    def stages(self, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
        """Every step that calls an LM, in order, for `--dry-run`."""
        ...

    def metric_names(self, parts: Sequence[str]) -> dict[str, str]:
        """By part, for the manifest."""
        ...

    def arguments(self) -> dict[str, Any]:
        """What else decides the result, beside `settings`, for the manifest."""
        ...

    def data_part(self) -> DataPart:
        """The data, for the manifest."""
        ...

    def lm_parts(self) -> dict[str, LMPart]:
        """The LMs by role, for the manifest."""
        ...

    def sizes(self) -> str:
        """The data and its splits, for people."""
        ...
