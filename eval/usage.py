"""What one memory update or one item cost: LM calls, tokens, seconds, money.

The numbers are gathered per unit of work through a context variable, so that threads do not mix them. Calls that the
run's cache answered count with the tokens and seconds of the answer they stand for: a run that was killed and resumed
reports the same as an undisturbed one. How many of them were not paid again is `cached_calls`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Usage:
    """Args:
    lm_calls: answers that were needed, paid or from the run's cache.
    cached_calls: those of them that the run's cache gave.
    failed_calls: calls that ended in an error (not in `lm_calls`).
    unreported_calls: answers whose LM did not say how many tokens it used (not in the tokens below).
    input_tokens: prompt tokens, prefix-cached ones included.
    output_tokens: generated tokens.
    cache_read_tokens: prompt tokens that the LM served from its own prefix cache.
    lm_seconds: how long the LM took for its answers, when they were made.
    cost: US dollars as far as known; None when no answer had a known price.
    """

    lm_calls: int = 0
    cached_calls: int = 0
    failed_calls: int = 0
    unreported_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    lm_seconds: float = 0.0
    cost: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add_answer(self, answer: Any, *, seconds: float, cached: bool) -> None:
        """Count one answer as DSPy stores it (its own record, or a provider SDK's response)."""
        tokens, cost = reported(answer)
        with self._lock:
            self.lm_calls += 1
            self.cached_calls += cached
            self.lm_seconds += seconds
            self.unreported_calls += not tokens
            self.input_tokens += tokens.get("input_tokens", 0)
            self.output_tokens += tokens.get("output_tokens", 0)
            self.cache_read_tokens += tokens.get("cache_read_tokens", 0)
            if cost is not None:
                self.cost = (self.cost or 0.0) + cost

    def add_failure(self) -> None:
        """Count one call that raised."""
        with self._lock:
            self.failed_calls += 1

    def as_json(self) -> dict[str, Any]:
        record = {name: getattr(self, name) for name in self.__dataclass_fields__ if not name.startswith("_")}
        record["lm_seconds"] = round(self.lm_seconds, 4)
        return record


def reported(answer: Any) -> tuple[dict[str, int], float | None]:
    """Tokens and price of a stored answer; ({}, None) when the LM reported nothing."""
    if isinstance(answer, dict):
        usage, cost = answer.get("usage"), answer.get("cost")
    else:
        usage = getattr(answer, "usage", None)
        cost = (getattr(answer, "_hidden_params", None) or {}).get("response_cost")
    usage = _plain(usage)
    details = _plain(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    found = {
        "input_tokens": usage.get("prompt_tokens", usage.get("input_tokens")),
        "output_tokens": usage.get("completion_tokens", usage.get("output_tokens")),
        "cache_read_tokens": details.get("cached_tokens"),
    }
    return {key: value for key, value in found.items() if isinstance(value, int)}, cost


def _plain(usage: Any) -> dict[str, Any]:
    if usage is None:
        return {}
    dump = getattr(usage, "model_dump", None)
    try:
        return dict(dump() if callable(dump) else usage)
    except (TypeError, ValueError):
        return {}


_current: ContextVar[Usage | None] = ContextVar("prefine_eval_usage", default=None)


@contextmanager
def measured() -> Iterator[Usage]:
    """All LM calls made inside the block, in this thread and in tasks that inherit its context, count here."""
    usage = Usage()
    token = _current.set(usage)
    try:
        yield usage
    finally:
        _current.reset(token)


def current_usage() -> Usage | None:
    """The innermost block's usage, or None outside of one."""
    return _current.get()
