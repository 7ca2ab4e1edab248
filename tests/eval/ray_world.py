"""The scripted run's task, made inside a worker of a cluster, with programs that kill their worker."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.exceptions import LMTransportError
from scripted_run import ChainSystem, DirectSystem, ScriptedEngine, scripted_lm, tiny_benchmark

from eval.tasks.mpt import MPTTask
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, Query, Session
from programs.system import MemoryUpdate


class Dying(ChainSystem):
    """Ends its process at one session, after the LM calls of the update, and at one query, before the call; as often
    as the folder has a file for it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        made = super().update(memory, sessions, tools)
        self.die(sessions[-1].id)
        return made

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        self.die(str(query.id))
        return super().answer(query, tools, history, memory)

    def die(self, at: str) -> None:
        for file in sorted(self.folder.glob(f"{at}.*")):
            file.unlink()
            time.sleep(0.5)  # others are through with their groups, and wait for more
            os._exit(1)


def task(log: Path | None = None, seconds: float = 0.0, dying: Path | None = None, down: bool = False) -> MPTTask:
    """What `scripted_run` runs.

    Args:
        log: where its engine notes its calls.
        seconds: how long an answer takes.
        dying: the folder of `Dying`.
        down: the LM cannot be reached at session h1s1.
    """

    def fail(prompt: str) -> Exception | None:
        return LMTransportError("gone", model="scripted/one") if down and "session 1 of user 1" in prompt else None

    systems: dict[str, Any] = {"chain": ChainSystem() if dying is None else Dying(dying), "direct": DirectSystem()}
    benchmark = tiny_benchmark()
    lm = scripted_lm(ScriptedEngine(log, seconds, fail=fail))
    return MPTTask(systems, benchmark, benchmark.instances, lm, lm)


def no_task() -> MPTTask:
    """A machine that lacks something."""
    raise InputError("the LM local has no weights here: python -m prefine_dspy.lm pull")


def broken_task() -> MPTTask:
    """A machine on which every worker dies."""
    time.sleep(0.1)
    os._exit(1)
