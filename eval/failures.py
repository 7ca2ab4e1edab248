"""What to do about an exception: count it, count it and ask again on resume, or stop the run."""

from __future__ import annotations

import threading
from typing import Any, Literal, NamedTuple

from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError, LMUnsupportedFeatureError

from prefine_dspy.errors import BudgetExhausted, InputError, MissingExtra, PrefineError

FailureStatus = Literal["parse_error", "lm_error"]

# The prompt does not fit, or the LM cannot do what was asked: it will not next time either, so it is an outcome.
_FOR_GOOD = (ContextWindowExceededError, LMUnsupportedFeatureError)
_STOPPING = (BudgetExhausted, InputError, MissingExtra)


class Failure(NamedTuple):
    """A unit of work that ended in an exception.

    Args:
        status: parse_error when the LM answered and the answer could not be used; lm_error otherwise (the LM failed,
            or the program did: `kind` says which).
        kind: the exception's class.
        message: its text, shortened.
        retry: `--resume` asks again.
    """

    status: FailureStatus
    kind: str
    message: str
    retry: bool

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "message": self.message, "retry": self.retry}


def classify(error: Exception) -> Failure:
    """What an exception of a program means for its item.

    Raises:
        PrefineError: the exception is about the run, not about the item.
    """
    if isinstance(error, _STOPPING):
        raise error
    message = " ".join(str(error).split())[:500]
    # an answer nested too deeply for a JSON reader is in the run's cache: asked again, it would be the same
    if isinstance(error, AdapterParseError | RecursionError):
        return Failure("parse_error", type(error).__name__, message, retry=False)
    return Failure("lm_error", type(error).__name__, message, retry=not isinstance(error, _FOR_GOOD))


class LMErrorsInARowError(PrefineError):
    """LM errors one after the other: going on would only write failures."""


class ErrorStreak:
    """Stops a run after `limit` passing LM errors in a row, counted over all threads."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._length = 0
        self._lock = threading.Lock()

    def record(self, failure: Failure | None) -> None:
        """Take note of one finished unit of work.

        Raises:
            LMErrorsInARowError: this was the last one allowed.
        """
        with self._lock:
            self._length = self._length + 1 if failure and failure.retry else 0
            if failure and self._length >= self.limit:
                raise LMErrorsInARowError(
                    f"{self._length} LM errors in a row, the last one {failure.kind}: {failure.message[:200]}"
                )
