"""The journal of finished LM calls: DSPy's own cache, placed inside the run folder, made strict.

DSPy asks its cache before every LM call and stores every answer. This subclass uses that seam (`dspy.cache` may be
replaced) to guarantee what a paid run needs:

- an answer is on disk before the program sees it, so that a killed run does not pay for it again; failing to store it
  stops the run instead of being a debug message;
- a call that is in flight is not made a second time by another thread: the other waits for the answer. Tasks of an
  event loop do not wait: DSPy looks and stores in the loop's few worker threads, and waiting tasks would take all of
  them from the one that has to store. They make their own calls, which count; the answer stored first is kept;
- the number of calls that were started is kept on disk with the answers, and `max_calls` refuses the next one *before*
  it is made (DSPy swallows exceptions of callbacks, so a callback cannot refuse);
- every answer is counted for the unit of work that asked (`eval.usage`).

It is a callback, too, because only callbacks see the end of a call that failed.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diskcache
import dspy
from dspy.clients.cache import Cache
from dspy.clients.disk_serialization import DeserializationError, restricted_disk
from dspy.utils import exceptions as lm_errors
from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback

from eval.usage import current_usage
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError

_COUNTER = "started_calls"
# Errors that say that no call will ever work: wrong key, no key, nobody listening, no such model.
_DEAD = (
    lm_errors.LMAuthError,
    lm_errors.LMBillingError,
    lm_errors.LMConfigurationError,
    lm_errors.LMTransportError,
    lm_errors.LMUnsupportedModelError,
    ImportError,
)


@dataclass
class _Call:
    """One LM call between its start and its end."""

    model: str
    waits: bool = True
    key: str | None = None
    claim: threading.Event | None = None
    asked: bool = False
    started: float = 0.0
    answers: int = 1


class CallCache(Cache, BaseCallback):
    """Answers of finished LM calls under a folder.

    Args:
        folder: where the answers are kept (an SQLite database, and a file for each large answer).
        max_calls: no more than this many calls are started, over all processes that ever used the folder; None for
            no limit. A call that DSPy retries after a transport error counts once, `n` answers count as `n`.

    Attributes:
        stop: the reason why the run has to end, once there is one. Programs may swallow exceptions of their LM, so
            whoever drives them looks here after each unit of work.
    """

    def __init__(self, folder: Path, max_calls: int | None = None) -> None:
        super().__init__(enable_disk_cache=False, enable_memory_cache=False, disk_cache_dir=str(folder))
        # One database where DSPy would open sixteen, and a journal forgets nothing. Answers are unpickled by DSPy's
        # restricted reader: a run folder may come from somebody else.
        self.disk_cache = diskcache.Cache(
            str(folder), timeout=60, cull_limit=0, size_limit=2**50, disk=restricted_disk(frozenset())
        )
        self.enable_disk_cache = True
        self.max_calls = max_calls
        self.stop: PrefineError | None = None
        self._started_before = self.started_calls
        self._answered = 0
        self._guard = threading.Lock()
        self._calls: dict[str, _Call] = {}
        self._in_flight: dict[str, threading.Event] = {}

    @property
    def started_calls(self) -> int:
        """LM calls started so far, over all processes that used the folder."""
        return self.disk_cache.get(_COUNTER, default=0, retry=True)

    @property
    def started_here(self) -> int:
        """LM calls started by this process."""
        return self.started_calls - self._started_before

    # -- what DSPy asks of a cache

    def get(self, request: dict[str, Any], ignored_args_for_cache_key: list[str] | None = None) -> Any:
        call = self._calls.get(ACTIVE_CALL_ID.get() or "")
        if call is None:  # an embedding, not an LM call
            return super().get(request, ignored_args_for_cache_key)
        call.asked = True
        key = self.cache_key(request, ignored_args_for_cache_key)
        stored, call.claim = self._wait_or_claim(key, call.waits)
        if stored is None:
            call.key, call.answers = key, request.get("n") or 1
            self._spend(call.answers)
            call.started = time.perf_counter()
            return None
        if usage := current_usage():
            usage.add_answer(stored["answer"], seconds=stored["seconds"], cached=True)
        return self._prepare_cached_response(stored["answer"])

    def put(
        self,
        request: dict[str, Any],
        value: Any,
        ignored_args_for_cache_key: list[str] | None = None,
        enable_memory_cache: bool = True,
    ) -> None:
        call = self._calls.get(ACTIVE_CALL_ID.get() or "")
        if call is None or call.key is None:
            return super().put(request, value, ignored_args_for_cache_key, enable_memory_cache)
        seconds = time.perf_counter() - call.started
        try:
            self.disk_cache.add(call.key, {"answer": value, "seconds": seconds}, retry=True)
        except Exception as error:
            self.stop = PrefineError(f"a paid LM answer could not be stored in {self.disk_cache_dir} ({error})")
            raise self.stop from error
        self._answered += 1
        if usage := current_usage():
            usage.add_answer(value, seconds=seconds, cached=False)

    # -- what DSPy tells a callback

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self._calls[call_id] = _Call(str(getattr(instance, "model", "")), waits=not _in_event_loop())

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        self._release(call)
        if exception is None:
            if not call.asked:
                self.stop = InputError(
                    f"{call.model} was called with its cache switched off, so that a resumed run would pay again: "
                    "give that LM cache=True"
                )
            return
        if usage := current_usage():
            usage.add_failure()
        if isinstance(exception, _DEAD) and call.started:
            with self._guard:
                self.disk_cache.incr(_COUNTER, -call.answers, retry=True)  # nobody was there to be paid
        if isinstance(exception, _DEAD) and not self._answered and self.stop is None:
            self.stop = InputError(_dead_line(call.model, exception))

    # -- claims and budget

    def _wait_or_claim(self, key: str, waits: bool) -> tuple[dict[str, Any] | None, threading.Event | None]:
        """The stored answer, after waiting for a call in flight; or None when the caller now owes the call, and the
        claim that others wait for, if it has one."""
        while True:
            with self._guard:
                flight = self._in_flight.get(key)
                if flight is None:
                    stored = self._stored(key)
                    if stored is None:
                        self._in_flight[key] = flight = threading.Event()
                    return stored, flight
            if not waits:
                return None, None
            flight.wait()

    def _stored(self, key: str) -> dict[str, Any] | None:
        try:
            return self.disk_cache.get(key, retry=True)
        except DeserializationError:
            self.disk_cache.delete(key, retry=True)
            return None

    def _release(self, call: _Call) -> None:
        if call.claim is not None and call.key is not None:
            with self._guard:
                del self._in_flight[call.key]
            call.claim.set()

    def _spend(self, wanted: int) -> None:
        with self._guard:
            if self.stop is not None:
                raise self.stop
            if self.max_calls is not None and self.started_calls + wanted > self.max_calls:
                self.stop = BudgetExhausted(f"--max-calls {self.max_calls} reached ({self.started_calls} made)")
                raise self.stop
            self.disk_cache.incr(_COUNTER, wanted, retry=True)


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _dead_line(model: str, exception: BaseException) -> str:
    text = getattr(exception, "message", "") or str(exception) or type(exception).__name__
    reason = " ".join(text.split()).partition(" To fix:")[0][:300]
    if isinstance(exception, lm_errors.LMConfigurationError) and model.startswith("llamacpp/"):
        return f"the first call to {model} failed: {reason}"  # it says itself what to type
    hint = "set its key and endpoint, or try --lm local"
    if isinstance(exception, lm_errors.LMTransportError):
        hint = "start the server or correct its address, or try --lm local"
    return f"the first call to {model} failed: {reason} ({hint})"


@contextmanager
def installed(cache: CallCache) -> Iterator[CallCache]:
    """`dspy.cache` is this cache inside the block, for all threads."""
    before = vars(dspy).get("cache")  # reading dspy.cache would open the one in the home directory
    dspy.cache = cache
    try:
        yield cache
    finally:
        if before is None:
            del dspy.cache
        else:
            dspy.cache = before
        cache.disk_cache.close()
