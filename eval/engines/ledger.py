"""The LM calls of all workers of a cluster: one process keeps the answers, counts the calls and holds the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from eval.call_cache import _COUNTER, CallCache
from prefine_dspy.errors import PrefineError


class Claim(NamedTuple):
    """What becomes of a call; without any of these the asker owes it.

    Args:
        stored: the answer, where there is one.
        wait: somebody else is at it: ask again in a moment.
        stop: why the run has to end and nothing more is to be asked.
    """

    stored: dict[str, Any] | None = None
    wait: bool = False
    stop: str = ""


class Ledger:
    """`CallCache` for workers elsewhere. It serves one request at a time, so each of its methods is atomic.

    Args:
        folder: of the answers, on this machine.
        max_calls: see `CallCache`.
    """

    def __init__(self, folder: str, max_calls: int | None) -> None:
        self._calls = CallCache(Path(folder), max_calls)
        self._claims: dict[str, tuple[str, int]] = {}  # by the call's key: the worker, and its number for the call
        self._stop = ""
        self._answers = 0

    def claim(self, key: str, worker: str, number: int) -> Claim:
        """The answer of a call, or leave to make it: until `release`, others wait for it."""
        if (stored := self._calls._stored(key)) is not None:
            return Claim(stored=stored)
        if self._stop:
            return Claim(stop=self._stop)
        return Claim(wait=self._claims.setdefault(key, (worker, number)) != (worker, number))

    def release(self, key: str, worker: str, number: int) -> None:
        """The call is over, answered or not."""
        if self._claims.get(key) == (worker, number):
            del self._claims[key]

    def forget(self, worker: str) -> None:
        """A worker is gone: what it was at is free for others."""
        self._claims = {key: owner for key, owner in self._claims.items() if owner[0] != worker}

    def spend(self, answers: int) -> str:
        """Count calls that are about to be made; "" or, over the budget, why they must not be."""
        try:
            self._calls._spend(answers)
        except PrefineError as stop:
            return str(stop)
        return ""

    def refund(self, answers: int) -> None:
        """Nobody was there to be paid."""
        self._calls.disk_cache.incr(_COUNTER, -answers, retry=True)

    def store(self, key: str, answer: dict[str, Any]) -> None:
        """Keep an answer; the first one of a key stays."""
        self._calls.disk_cache.add(key, answer, retry=True)
        self._answers += 1

    def answers(self) -> int:
        """Answers of this process's time."""
        return self._answers

    def stop(self, why: str) -> None:
        """From now on give stored answers only; workers leave their groups."""
        self._stop = why

    def stopped(self) -> bool:
        """Whether workers are to leave their groups."""
        return bool(self._stop)
