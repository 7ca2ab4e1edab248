"""Call syntax in text: `GetHotels(location="Paris", average_star=1)`, over several lines, in prose or in fences.

Everything is scanned once from left to right, so a long or hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# the name may be decorated: **GetHotels**(, {GetHotels}(, "GetHotels"(; some LMs write GetHotels{...}
_HEAD = re.compile(r"(?<![\w.])((?:\w++\.)*+\w++)([\s\"'`*}]*+)([({])")
_NAME_IN_BRACES = re.compile(r"""\{\s*+["']([^\W\d]\w*+)["']\s*+,""")
_NAME = re.compile(r"[^\W\d]\w*")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "\"'`"
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "（": "(", "）": ")", "，": ",", "＝": "="})
_KEYWORD = re.compile(r"[^\W\d]\w*+[\"'`]?\s*+([=:])")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LONGEST_CALL = 20_000
"""Characters of one call; a call that is not closed by then is noise, and looking further would be quadratic."""
_LONGEST_SCAN = 1_000_000
"""Characters looked at in one text: nested open parentheses would else be looked at over and over."""


class SyntaxCall(NamedTuple):
    """A call found in text: where, its name, and its `argument = value` pairs (lists where one is repeated)."""

    start: int
    name: str
    arguments: dict[str, Any]


def plain_name(name: str) -> str:
    """A name without letter case and separators: `get_flights` and `GetFlights` are one."""
    return "".join(filter(str.isalnum, name)).casefold()


def straight_quotes(text: str) -> str:
    """Typographic quotes and full-width brackets as their ASCII forms."""
    return text.translate(_CURLY)


def calls_in_text(text: str, known: frozenset[str] | None) -> Iterator[SyntaxCall]:
    """Every call in a text.

    Args:
        known: plain names of functions (`plain_name`). If given, other names before a parenthesis are prose
            ("a hotel (one star)") unless they are written as a call, without a blank and with `name=value` inside.
    """
    text = _NAME_IN_BRACES.sub(r"\1{", text)  # {"GetHotels", location="Paris"}
    position, scanned = 0, 0
    while scanned < _LONGEST_SCAN and (head := _HEAD.search(text, position)):
        end, inside = _inside(text, head.end(), _BRACKETS[head[3]])
        scanned += end - head.start()
        name = head[1].rpartition(".")[2].strip("_")
        if _NAME.fullmatch(name) and _is_call(name, head[2], head[3], inside, known):
            yield SyntaxCall(head.start(), name, _arguments(inside))
            position = end
        else:
            position = head.end()


def _is_call(name: str, between: str, bracket: str, inside: str, known: frozenset[str] | None) -> bool:
    """Whether `name(inside)` is meant as a call: the more prose-like it looks, the more it must show."""
    keyword = _KEYWORD.search(inside)
    named = keyword is not None and (keyword[1] == "=" or bracket == "(")
    if known is not None and plain_name(name) in known:
        return named or bracket == "("
    blank = between.isspace()
    if bracket == "{" or (known is not None and not named):
        return not blank and named and keyword is not None and keyword[1] == "="
    if blank:  # `rate limit (retry=3)` is prose, `GetHotels (average_star=3)` is not
        return named and _looks_like_identifier(name)
    return named or not inside.strip() or inside.lstrip()[0] in "\"'[{"


def _looks_like_identifier(name: str) -> bool:
    return "_" in name or not name[1:].islower()


def _inside(text: str, start: int, closer: str) -> tuple[int, str]:
    """End of the call and the text between its brackets; a call that is cut off ends with the text."""
    closers = [closer]
    quote = ""
    limit = min(len(text), start + _LONGEST_CALL)
    position = start
    while position < limit:
        character = text[position]
        if character == "\\":
            position += 1
        elif quote:
            quote = "" if character == quote and _closes(text, position) else quote
        elif character in _QUOTES and _opens(text, position):
            quote = character
        elif character in _BRACKETS:
            closers.append(_BRACKETS[character])
        elif character == closers[-1] or (character in ")]}" and len(closers) == 1):
            # the call itself may be closed by a wrong bracket: {GetHotels(average_star=3}
            closers.pop()
            if not closers:
                return position + 1, text[start:position]
        position += 1
    # unbalanced quotes or brackets: the first closing bracket is the best guess
    close = text.find(closer, start, limit)
    return (close + 1, text[start:close]) if close >= 0 else (limit, text[start:limit])


def _opens(text: str, position: int) -> bool:
    """A quote opens a value only where one can start: the apostrophe in `Joe's` does not."""
    return position == 0 or not text[position - 1].isalnum()


def _closes(text: str, position: int) -> bool:
    """A quote closes a value only where one can end: the apostrophe in 'Joe's Diner' does not."""
    return position + 1 >= len(text) or not text[position + 1].isalnum()


def _arguments(inside: str) -> dict[str, Any]:
    """`a=1, b: "x"` or one JSON object as a dictionary; parts without a name are left out."""
    if inside.lstrip().startswith("{"):
        try:
            value = json.loads(inside)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
    arguments: dict[str, Any] = {}
    for part in _split(inside, ","):
        name, value = _name_and_value(part)
        if not name:
            continue
        if name not in arguments:
            arguments[name] = value
        else:  # an argument given several times is a list of values, as in `ToolCall`
            before = arguments[name]
            arguments[name] = [*(before if isinstance(before, list) else [before]), value]
    return arguments


def _name_and_value(part: str) -> tuple[str, Any]:
    found = re.match(r"\s*+[\"'`]?([^\W\d]\w*+)[\"'`]?\s*+(?::=|==|[=:])", part)
    return (found[1], _value(part[found.end() :].strip())) if found else ("", None)


def _value(text: str) -> Any:
    """Quotes and escapes off; a bracketed list of values as a list; everything else as its text."""
    if len(text) >= 2 and text[0] == "[" and text[-1] == "]":
        return [_value(part.strip()) for part in _split(text[1:-1], ",") if part.strip()]
    if len(text) >= 2 and text[0] == text[-1] and text[0] in _QUOTES:
        return _ESCAPE.sub(r"\1", text[1:-1])
    text = text.rstrip(";").strip("\"'`") if text[:1] in _QUOTES or text[-1:] in _QUOTES else text
    return text.capitalize() if text.lower() in ("true", "false") else text


def _split(text: str, separator: str) -> Iterator[str]:
    """Split outside quotes and brackets."""
    start, depth, quote = 0, 0, ""
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif quote:
            quote = "" if character == quote and _closes(text, position) else quote
        elif character in _QUOTES and _opens(text, position):
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
        elif character == separator and not depth:
            yield text[start:position]
            start = position + 1
        position += 1
    yield text[start:]
