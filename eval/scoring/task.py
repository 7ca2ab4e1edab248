"""What scoring a benchmark from files takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from eval.metrics import reference

Id = str | int
Pairs = dict[Id, tuple[Any, Any]]
"""(gold, prediction) by id, in gold order."""


class Settings(NamedTuple):
    """What a scorer may need beside gold and prediction.

    Args:
        schema: MPT's tools with or without the unseen functions.
        today: what MPT's reference scorer reads relative dates from.
        locations: a file with the alias table of NLSI's reference scorer; None looks for it.
        reasoning_types: by id, where the gold file has them.
    """

    schema: Literal["base", "extended"] = "base"
    today: datetime = reference.DEFAULT_TODAY
    locations: Path | None = None
    reasoning_types: Mapping[Id, str] = {}


class Scored(NamedTuple):
    """Output of a task: one JSON object an item, and the summary."""

    items: list[dict[str, Any]]
    summary: str


class Task(NamedTuple):
    """A benchmark that can be scored from files: its scorers by name, each of gold and prediction by id."""

    scorers: dict[str, Callable[[Pairs, Settings], Scored]]
