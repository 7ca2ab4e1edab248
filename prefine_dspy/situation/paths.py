"""Paths into a value: `items[2].options.color` as the steps ("items", 2, "options", "color")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]
"""Keys of objects and positions in lists, from the outside in."""

_STEP = re.compile(r"\[(\d{1,9})\]|\.?([^.\[\]]+)|\.")
_DEEPEST = 60
MISSING = object()
"""What `value_at` answers where a path leads nowhere; None is a value."""


def too_deep(value: Any) -> bool:
    """Whether more than 60 objects and lists are inside each other: no tool's data, and a danger to what recurses."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            one
            for outer in level
            for one in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(one, dict | list) and one
        ]
        if not level:
            return False
    return True


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar in a value with its path. Empty objects and lists are leaves too: "no such flight" is a fact."""
    stack: list[tuple[Path, Any]] = [(path, value)]
    while stack:  # a loop, because what tools return may be nested deeper than the interpreter recurses
        path, value = stack.pop()
        if isinstance(value, dict) and value:
            stack += [((*path, key), one) for key, one in reversed(value.items())]
        elif isinstance(value, list) and value:
            stack += [((*path, at), value[at]) for at in range(len(value) - 1, -1, -1)]
        else:
            yield path, value


def value_at(value: Any, path: Path) -> Any:
    """The value at a path, or MISSING. A key of digits finds a position in a list too, and a position a key."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step if isinstance(step, str) else str(step), MISSING)
        elif isinstance(value, list) and str(step).isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def read_path(text: str) -> Path:
    """`items[2].price` -> ("items", 2, "price"). Never fails; a text without dots and brackets is one key."""
    return tuple(int(at) if at else key for at, key in _STEP.findall(text) if at or key)


def path_text(path: Path) -> str:
    """("items", 2, "price") -> `items[2].price`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
