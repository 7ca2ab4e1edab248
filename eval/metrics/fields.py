"""What a DSPy metric is handed: an example or a prediction, or what stands for one."""

from __future__ import annotations

from typing import Any


def field_of(value: Any, name: str) -> Any:
    """A field of an example or prediction, None where there is none; SIMBA passes predictions as plain dictionaries."""
    return value.get(name) if hasattr(value, "get") else getattr(value, name, None)
