"""One unit of work: asked under the run's LM and budget, timed, counted, its exceptions told apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

import dspy

from eval.call_cache import CallCache
from eval.failures import ErrorStreak, Failure, classify
from eval.usage import Usage, measured

Answer = TypeVar("Answer")


class Attempt(NamedTuple, Generic[Answer]):
    """What came of one unit.

    Args:
        answer: of the program; None when it failed.
        failure: why it failed; None when it did not.
        usage: the LM calls it took.
        seconds: how long it took, waiting for the LM included.
    """

    answer: Answer | None
    failure: Failure | None
    usage: Usage
    seconds: float


class RunGuard:
    """What all units of a run share.

    Args:
        cache: counts LM calls and refuses those over the budget.
        streak: stops the run when LM errors follow each other.
    """

    def __init__(self, cache: CallCache, streak: ErrorStreak) -> None:
        self.cache = cache
        self.streak = streak

    @contextmanager
    def asking(self, lm: dspy.BaseLM) -> Iterator[None]:
        """Programs inside the block ask this LM, and the run hears of it."""
        with dspy.context(lm=lm, callbacks=[*(dspy.settings.callbacks or []), self.cache], disable_history=True):
            yield

    def attempt(self, ask: Callable[[], Answer]) -> Attempt[Answer]:
        """Do one unit.

        Raises:
            PrefineError: the run has to end (budget spent, no LM there): the unit is not to be written down.
        """
        answer: Answer | None = None
        failure: Failure | None = None
        started = time.perf_counter()
        with measured() as usage:
            try:
                answer = ask()
            except Exception as error:
                self._stop_if_asked()
                failure = classify(error)
            # a program may have swallowed the exception that says so
            self._stop_if_asked()
        return Attempt(answer, failure, usage, time.perf_counter() - started)

    def _stop_if_asked(self) -> None:
        if self.cache.stop is not None:
            raise self.cache.stop
