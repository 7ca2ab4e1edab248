"""Values in few tokens: no quotes where nothing could be misread, `{key=value}` objects, blanks between elements."""

from __future__ import annotations

import json
import re
from typing import Any

from prefine_dspy.situation.identity import EntityKey

_NEEDS_QUOTES = re.compile(r"[\s\[\](){}\"|;=]")
_MISREAD = frozenset(("", "-", "null", "true", "false"))


def atom(value: Any) -> str:
    """A scalar. Text stands in quotes only where a separator, or a word of this notation, is in it."""
    if isinstance(value, EntityKey):
        return atom(value.id)
    if isinstance(value, str) and value not in _MISREAD and not _NEEDS_QUOTES.search(value):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def plain(value: Any) -> str:
    """Any value."""
    if isinstance(value, dict):
        return "{" + " ".join(f"{atom(key)}={plain(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + " ".join(plain(one) for one in value) + "]"
    return atom(value)
