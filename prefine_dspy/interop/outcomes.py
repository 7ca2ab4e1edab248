"""Did a tool call work? A failed call is not evidence of what a user wants."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FAILED_TEXT = re.compile(
    r"\s*(error\b|exception\b|traceback \(|failed\b|failure\b|invalid\b|unknown tool)", re.IGNORECASE
)
_BAD = frozenset({"error", "failed", "failure"})


def failed(result: Any) -> bool:
    """Whether a tool's result says that it failed.

    OpenAI's tool messages have no flag for it, so the usual forms are recognised: a JSON object with `error`, `isError`
    or `success: false`, a status of "error", or text that begins with "Error".
    """
    if isinstance(result, str):
        try:
            decoded = json.loads(result)
        except (ValueError, RecursionError):
            return _FAILED_TEXT.match(result) is not None
        return failed(decoded) if not isinstance(decoded, str) else _FAILED_TEXT.match(decoded) is not None
    if not isinstance(result, Mapping):
        return False
    if any(result.get(key) for key in ("error", "errors", "isError", "is_error")):
        return True
    if any(result.get(key) is False for key in ("success", "ok")):
        return True
    status = result.get("status")
    return isinstance(status, str) and status.casefold() in _BAD
