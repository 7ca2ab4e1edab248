"""Values out of hostile answers, made safe to store: valid Unicode, bounded depth, always printable as JSON."""

from __future__ import annotations

import math
from typing import Any

_DEEPEST = 8
"""Arguments nest a few levels at most; anything deeper is noise that would break JSON encoders later."""


class UnreadableError(Exception):
    """The value cannot be represented; used inside parsing only."""


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced: they can be neither written to a file nor sent to an LM."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def clean_value(value: Any, depth: int = 0) -> Any:
    """The value as plain JSON types.

    Raises:
        UnreadableError: too deep, or a number that has no JSON form.
    """
    if depth > _DEEPEST:
        raise UnreadableError
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > 64:  # past this Python refuses to print long numbers, and no argument means one
            raise UnreadableError
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UnreadableError
        return float(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean_value(one, depth + 1) for one in value]
    try:
        return clean_text(str(value))
    except Exception as error:
        raise UnreadableError from error


def clean_arguments(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The readable arguments, and the names of those that are not."""
    kept: dict[str, Any] = {}
    unreadable: list[str] = []
    for name, value in arguments.items():
        name = clean_text(str(name)).strip()
        try:
            kept[name] = clean_value(value)
        except UnreadableError:
            unreadable.append(name)
    return kept, unreadable
