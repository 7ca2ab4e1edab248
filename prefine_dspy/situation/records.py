"""Records as VitaBench's tools print them: `Store(name=Rice & More, tags=['a', 'b'])`, one a line, text without quotes.

Such text is no Python: values hold commas, brackets and quotes as they please. What tells fields apart is `, name=`
outside square and curly brackets (`, name:` in the form with colons, whose list field may lack its closing bracket).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from prefine_dspy.situation.literals import python_literal

_RECORD = re.compile(r"\s*([A-Za-z_]\w{0,80})\((\w[^=:,()\n]{0,80}?)([=:])")
# begins with a plain comma, for which regular expressions search fast; `_fields` puts one before the first field
_BOUNDARY = {sign: re.compile(rf",\s{{0,9}}([^\W\d]\w{{0,80}}){sign}") for sign in "=:"}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_NAMED = re.compile(r"(?:[A-Za-z_]\w{0,40}:-?\d{1,9}(?:\.\d{1,17})?(?:,|$)){2,6}")
_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_ID = re.compile(r"(?:^|_)id$", re.IGNORECASE)


class TypedRecord(NamedTuple):
    """Args:
    type: the name before the bracket.
    fields: values by name; text that reads as a number or a truth value and back is one, other text stays text.
    """

    type: str
    fields: dict[str, Any]


def typed_records(text: str) -> list[TypedRecord] | None:
    """The records of a text that is nothing but records, one a line; None for any other text."""
    found = []
    names: tuple[str, ...] = ()
    for line in map(str.strip, text.splitlines()):
        if not line:
            continue
        head = _RECORD.match(line)
        if head is None or not line.endswith((")", "]", "}")):
            return None
        inside = line[head.start(2) : -1 if line.endswith(")") else len(line)]
        parts = _like_the_last(inside, head[3], names) or _fields(inside, head[3])
        names = tuple(name for name, _ in parts)
        record = _record(head[1], parts)
        if record is None:
            return None
        found.append(record)
    return found or None


def _like_the_last(inside: str, sign: str, names: tuple[str, ...]) -> list[tuple[str, str]] | None:
    """`_fields` for a record with the fields of the one before it, without searching for them; None when it has others,
    or may have."""
    if not names or inside.count(sign) != len(names) or not inside.startswith(names[0] + sign):
        return None
    found = []
    start = len(names[0]) + 1
    for name, after in zip(names, (*names[1:], ""), strict=True):
        end = inside.find(f", {after}{sign}", start) if after else len(inside)
        value = inside[start:end]
        if end < 0 or (value.lstrip()[:1] in ("[", "{") and after and _inside_list(value)):
            return None
        found.append((name, value))
        start = end + len(after) + 3
    return found


def _record(kind: str, parts: list[tuple[str, str]]) -> TypedRecord | None:
    fields: dict[str, Any] = {}
    for name, value in parts:
        for own, one in _values(name, value):
            fields[own if own not in fields else f"{name}.{own}"] = one
    return TypedRecord(kind, fields) if fields else None


def _fields(inside: str, sign: str) -> list[tuple[str, str]]:
    """(name, text of the value) of every field."""
    inside = f",{inside}"
    starts: list[re.Match[str]] = []
    listed = False  # whether the last value starts as a list or an object
    for found in _BOUNDARY[sign].finditer(inside):
        if listed and _inside_list(inside[starts[-1].end() : found.start()]):
            continue
        starts.append(found)
        listed = inside[found.end() : found.end() + 9].lstrip()[:1] in ("[", "{")
    if not starts:
        return []
    ends = [one.start() for one in starts[1:]] + [len(inside)]
    return [(one[1], inside[one.end() : end]) for one, end in zip(starts, ends, strict=True)]


def _inside_list(value: str) -> bool:
    """Whether a value that starts as a list or an object goes on. Brackets inside plain text mean nothing."""
    opener = value.lstrip()[:1]
    return value.count(opener) > value.count("]" if opener == "[" else "}")


def _values(name: str, text: str) -> list[tuple[str, Any]]:
    """A field's value; numbers named at the end of a text (`... longitude:1.5,latitude:2.5`) are fields too."""
    if ":" not in text and text[:1].isalnum():  # most values: one word of text, or a number
        return [(name, _scalar(name, text))]
    if (listed := text.strip())[:1] in ("[", "{"):
        literal = python_literal(listed + "]" if listed.count("[") > listed.count("]") else listed)
        return [(name, text if literal is None else literal)]
    before, _, last = text.rpartition(" ")
    if not before.strip() or ":" not in last or not _NAMED.fullmatch(last):
        return [(name, _scalar(name, text))]
    named = [pair.partition(":") for pair in last.split(",") if pair]
    return [(name, before), *((key, _scalar(key, value)) for key, _, value in named)]


def _scalar(name: str, text: str) -> Any:
    """Text that is written exactly as a number or truth value is; ids look like numbers and stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if not text[:1].isdecimal() and text[:1] != "-":
        return text
    if _ID.search(name) or not _NUMBER.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    return number if str(number) == text else text
