"""Options of agents, checked where they are given."""

from __future__ import annotations

from typing import Any

from prefine_dspy.errors import InputError


def whole_number(name: str, value: Any, least: int) -> int:
    """The value.

    Raises:
        InputError: it is no whole number, or too small.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return value


def truth(name: str, value: Any) -> bool:
    """The value.

    Raises:
        InputError: it is neither True nor False.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, not {value!r}")
    return value
