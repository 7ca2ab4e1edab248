"""DSPy's cache inside a worker: every look-up, claim and answer goes to the cluster's `Ledger`."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any, Protocol

from dspy.clients.cache import Cache

from eval.call_cache import CallCache, _Call
from prefine_dspy.errors import BudgetExhausted, PrefineError

POLL_SECONDS = 0.05  # an LM takes longer


class AskLedger(Protocol):
    """Calls a method of the ledger."""

    def __call__(self, method: str, *arguments: Any) -> Any: ...


class RemoteCalls(CallCache):
    """A `CallCache` that keeps nothing itself: what it does with a call it asks the ledger.

    Args:
        ledger: asks it; raises PrefineError when it is gone.
        worker: a name that no other worker has.
    """

    def __init__(self, ledger: AskLedger, worker: str) -> None:
        Cache.__init__(self, enable_disk_cache=False, enable_memory_cache=False, disk_cache_dir=None)
        self.disk_cache = _Answers(ledger)
        self.stop: PrefineError | None = None
        self._ledger = ledger
        self._worker = worker
        self._answered = 0
        self._guard = threading.Lock()
        self._calls = {}
        self._numbers = itertools.count()
        self._owned: dict[str, int] = {}  # by the call's key, the number under which it is claimed

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """As there; an LM is dead when it has answered nobody."""
        if exception is not None and self.stop is None:
            self._answered = self._ledger("answers")
        super().on_lm_end(call_id, outputs, exception)

    def _wait_or_claim(self, key: str, waits: bool) -> tuple[dict[str, Any] | None, threading.Event | None]:
        number = next(self._numbers)
        while True:
            claim = self._asked("claim", key, self._worker, number)
            if claim.stop:
                self.stop = self.stop or PrefineError(claim.stop)
                raise self.stop
            if claim.stored is not None:
                return claim.stored, None
            if not claim.wait:
                self._owned[key] = number
                return None, threading.Event()
            if not waits:
                return None, None
            time.sleep(POLL_SECONDS)

    def _release(self, call: _Call) -> None:
        if call.claim is not None and call.key is not None:
            self._asked("release", call.key, self._worker, self._owned.pop(call.key))

    def _spend(self, wanted: int) -> None:
        if self.stop is None and (why := self._asked("spend", wanted)):
            self.stop = BudgetExhausted(why)
        if self.stop is not None:
            raise self.stop

    def _asked(self, method: str, *arguments: Any) -> Any:
        """Without a ledger nothing may be asked of an LM, whatever the program makes of the exception."""
        try:
            return self._ledger(method, *arguments)
        except PrefineError as gone:
            self.stop = self.stop or gone
            raise


class _Answers:
    """As much of a disk cache as `CallCache` uses after a call."""

    def __init__(self, ledger: AskLedger) -> None:
        self._ledger = ledger

    def add(self, key: str, answer: dict[str, Any], **_: Any) -> None:
        self._ledger("store", key, answer)

    def incr(self, key: str, delta: int, **_: Any) -> None:
        self._ledger("refund", -delta)

    def close(self) -> None:
        """The ledger closes its own."""
