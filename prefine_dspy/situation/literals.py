"""Python's notation of data, as `print(dictionary)` writes it, as JSON values."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

from prefine_dspy.situation.paths import too_deep

_QUOTED = re.compile(r"""'[^'"\\]*'|"[^"\\]*"|\b(?:True|False|None)\b""")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_DEEPEST = 60
_LONGEST = 400_000


def python_literal(text: str) -> Any:
    """The object or list that a text is in Python's notation; None for anything else, bare scalars included."""
    text = text.strip()
    if text[:1] not in ("{", "[", "(") or text[-1:] not in ("}", "]", ")") or len(text) > _LONGEST:
        return None
    try:
        value, end = _DECODER.raw_decode(read := _json_of(text))
        if end == len(read):
            return None if too_deep(value) else value
    except (ValueError, RecursionError):
        pass  # tuples, sets, escapes: the slower reading knows them
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in somebody else's text
            return _plain(ast.literal_eval(text), 0)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _json_of(text: str) -> str:
    if '"' in text or "\\" in text or "True" in text or "False" in text or "None" in text:
        return _QUOTED.sub(_as_json, text)
    return text.replace("'", '"')  # every quotation mark is a delimiter: half the time of looking at each


def _as_json(found: re.Match[str]) -> str:
    token = found[0]
    return f'"{token[1:-1]}"' if token[0] == "'" else _WORDS.get(token, token)


def _refuse(word: str) -> Any:
    raise ValueError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _plain(value: Any, depth: int) -> Any:
    """As JSON has it. Sets and tuples become lists; bytes and complex numbers their notation."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, set):
        return [_plain(one, depth + 1) for one in sorted(value, key=repr)]
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)
