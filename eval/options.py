"""Programs and their options as a command line writes them."""

from __future__ import annotations

import json
from typing import Any

from prefine_dspy.errors import InputError

_PYTHON = {"True": True, "False": False, "None": None}


def parse_program(label: str) -> tuple[str, dict[str, Any]]:
    """`prefine:record=full,K=3` -> ("prefine", {"record": "full", "K": 3})."""
    name, _, rest = label.partition(":")
    return name, parse_options(rest.split(",") if rest else [])


def parse_options(pairs: list[str]) -> dict[str, Any]:
    """`["K=3", "record=full"]` -> {"K": 3, "record": "full"}; values are JSON, or Python's True, False, None,
    where they can be, else text.

    Raises:
        InputError: a pair without "=".
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise InputError(f"{pair!r} is no option: write key=value, e.g. K=3")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = _PYTHON.get(value, value)
    return options
