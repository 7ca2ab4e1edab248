"""A process of a Ray cluster that works on groups."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dspy

from eval.engines.remote_calls import RemoteCalls
from eval.engines.work import Event, Stopped, Work
from eval.tasks.task import Task
from prefine_dspy.errors import PrefineError


class Sent(NamedTuple):
    """The run's lines at one moment.

    Args:
        version: another one for every moment, so also for every phase.
        lines: a list of one, the reference to the `Lines`: Ray would fetch a bare one for every group.
    """

    version: int
    lines: list[Any]


class RayWorker:
    """The class behind the actor.

    Args:
        make_task: makes the run's task on this machine.
        path: of the run's folder, on the driver's machine.
        ledger: the actor of `Ledger`.
        name: of this worker.
    """

    def __init__(self, make_task: Callable[[], Task], path: str, ledger: Any, name: str) -> None:
        self._make_task = make_task
        self._path = Path(path)
        self._ledger = ledger
        self._calls = RemoteCalls(self._ask, name)
        self._work: Work | None = None
        self._entered = 0
        dspy.cache = self._calls

    def group(self, number: int, sent: Sent, at: int) -> Iterator[Event]:
        """See `Work`; whatever a task says is wrong comes out as `Stopped`.

        Args:
            number: of the phase.
            sent: the run's lines.
            at: the group's place.
        """
        try:
            if self._work is None:
                self._work = Work(self._make_task(), self._path, self._calls)
            if self._entered != sent.version:
                self._work.enter(number, _ray().get(sent.lines[0]))
                self._entered = sent.version
            yield from self._work.group(at, lambda: bool(self._ask("stopped")))
        except PrefineError as error:
            yield Stopped.by(error)

    def _ask(self, method: str, *arguments: Any) -> Any:
        ray = _ray()
        try:
            return ray.get(getattr(self._ledger, method).remote(*arguments))
        except ray.exceptions.RayTaskError as error:
            raise PrefineError(f"an LM answer could not be looked up or stored ({error.cause})") from None
        except ray.exceptions.RayError as error:
            raise PrefineError(f"the process that keeps the LM answers is gone ({type(error).__name__})") from None


def _ray() -> Any:
    return importlib.import_module("ray")
