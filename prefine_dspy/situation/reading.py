"""What a tool returned, read: JSON, JSON lines inside prose, Python literals, typed records, `key: value` lines, text.

The first reading that fits wins. Nothing is guessed: a bare number or word is text and stays as it is written, because
ids look numeric ("0012", "327.0").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from prefine_dspy.situation.lines import key_value_lines
from prefine_dspy.situation.literals import python_literal
from prefine_dspy.situation.paths import too_deep
from prefine_dspy.situation.records import TypedRecord, typed_records

Form = Literal["json", "json_lines", "python", "records", "lines", "text"]
_DECODER = json.JSONDecoder(parse_constant=str)


@dataclass(frozen=True, slots=True)
class Reading:
    """A tool's return, read.

    Args:
        form: which reading fitted.
        value: an object, a list of elements, or text as it came.
        types: names of the records' types by position in the list `value`, where the text names them.
        prose: what stood around JSON lines.
    """

    form: Form
    value: Any
    types: tuple[str, ...] = ()
    prose: str = ""


def read_return(result: Any) -> Reading:
    """Read what a tool returned. Never raises.

    Args:
        result: text, or a decoded JSON value; other objects count as their text.
    """
    if not isinstance(result, str):
        return _decoded(result)
    text = result.strip()
    if not text:
        return Reading("text", result)
    if text[0] in "{[" and (value := _json(text)) is not None:
        return Reading("json", value)
    if (value := python_literal(text)) is not None:
        return Reading("python", value)
    if records := typed_records(text):
        return _typed(records)
    if "{" in text or "[" in text:
        values, prose = _json_lines(text)
        if values:
            return Reading("json_lines", values, prose=prose)
    if (lines := key_value_lines(text)) is not None:
        return Reading("lines", lines[0] if len(lines) == 1 else lines)
    return Reading("text", result)


def _decoded(result: Any) -> Reading:
    if isinstance(result, Mapping | list | tuple):
        try:
            # through JSON and back: keys become text, and what is stored is nobody else's to change
            plain = _DECODER.decode(json.dumps(result, default=str))
            if not too_deep(plain):
                return Reading("json", plain)
        except Exception:  # noqa: BLE001 - too deep, circular, or a foreign object's own __str__
            pass
    try:
        return Reading("text", "" if result is None else str(result))
    except Exception:  # noqa: BLE001 - a foreign object's own __str__
        return Reading("text", f"<{type(result).__name__}>")


def _json(text: str) -> Any:
    """The object or list that a text is, or None."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and not too_deep(value) else None


def _typed(records: list[TypedRecord]) -> Reading:
    return Reading("records", [one.fields for one in records], types=tuple(one.type for one in records))


def _json_lines(text: str) -> tuple[list[Any], str]:
    """The objects and lists that end a line each, and the text around them."""
    values: list[Any] = []
    prose: list[str] = []
    for line in text.splitlines():
        starts = [at for at in (line.find("{"), line.find("[")) if at >= 0]
        value = _json(line[min(starts) :].rstrip().rstrip(",")) if starts else None
        if value is None or value == {} or value == []:
            prose.append(line)
        else:
            values.append(value)
            if before := line[: min(starts)].strip():
                prose.append(before)
    return values, "\n".join(prose).strip()
