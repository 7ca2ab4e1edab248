"""The paper's notation of a state, which is no YAML, read from left to right by its known keys.

Both of its forms: entries with dashes, several fields a line (`source: askable | known: true`), and the short form
`I1: "Exchange keyboard" -> blocked reason: ... depends_on: [I0.completed]`. Line breaks do not matter, so a state
that was flattened into one line reads as well.
"""

from __future__ import annotations

import json
import re
from typing import Any

SECTIONS = ("intents", "variables", "constraints")
FIELDS = (
    *("name", "id", "status", "goal", "description", "reason", "depends_on", "value", "source", "known", "evidence"),
    *("needed_by", "provenance", "scope", "condition", "guards", "check", "grounding", "kind"),
)
_SECTION = re.compile(r"(?:^|(?<=\s))(?:[-#*]+ ?)?\"?(intents|variables|constraints)\"?\s*:(?=\s|$)", re.IGNORECASE)
_FIELD = re.compile(rf"\"?({'|'.join(FIELDS)})\"?\s*:(?=\s|[\"'\[]|$)", re.IGNORECASE)
_ENTRY = re.compile(r"(?:-\s+)?([^\W\d][\w \-./#]{0,60}?)\s{0,9}(?::(?=\s|[\"']|$)|(?=(?:→|->|\$\\to\$)))")
_ARROW = re.compile(r"(?:→|->|\$\\to\$)\s*\"?([A-Za-z]+)\"?")
_DASH = re.compile(r"-\s+")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
_LIST = re.compile(r"\[[^\]]{0,2000}\]")
_KNOWN = rf"\"?(?:{'|'.join(FIELDS)})\"?\s*:"
_BARE_END = re.compile(
    rf"\n|\s\|\s|\s(?={_KNOWN}(?:\s|[\"'\[]|$))|\s(?=-\s+{_KNOWN})|\s(?=→|->|\$\\to)|\s(?=[^\W\d][\w\-]{{0,60}}:\s?[\"'])",
    re.IGNORECASE,
)
_ITEM = re.compile(rf"\s*-\s+(?!{_KNOWN})({_QUOTED.pattern}|[^\n]+?)\s*?(?=\n|\s-\s|$)", re.IGNORECASE)
_WORD = re.compile(r"\s*[\"'*]?([A-Za-z]+)[\"'*]?")
_ONE_WORD = frozenset(("status", "source", "known", "kind"))
"""Fields whose value is one word, whatever follows it on the line."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_WORDS: dict[str, Any] = {"true": True, "True": True, "false": False, "False": False}
_WORDS |= {word: None for word in ("null", "Null", "None", "~", "")}  # "none" is a value: no backlight
_MAIN = {"intents": "goal", "variables": "value", "constraints": "condition"}
_STATUS = {"intents": "status", "variables": "known", "constraints": "status"}


def read_dialect(text: str) -> dict[str, list[dict[str, Any]]]:
    """The entries of every section that the text has; {} if it has none. Reads what it can and skips the rest."""
    heads = list(_SECTION.finditer(text))
    found: dict[str, list[dict[str, Any]]] = {}
    for head, end in zip(heads, [*(one.start() for one in heads[1:]), len(text)], strict=True):
        section = head[1].casefold()
        found.setdefault(section, []).extend(_Entries(section, text[head.end() : end]).read())
    return found


class _Entries:
    """The entries of one section."""

    def __init__(self, section: str, text: str) -> None:
        self.section = section
        self.text = text
        self.position = 0
        self.entries: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        while self.position < len(self.text):
            start = self.position
            self._skip()
            dash = _DASH.match(self.text, self.position)
            at = dash.end() if dash else self.position
            if field := _FIELD.match(self.text, at):
                self._field(field[1].casefold(), field.end(), new=bool(dash))
            elif arrow := _ARROW.match(self.text, self.position):
                self._set(_STATUS[self.section], arrow[1])
                self.position = arrow.end()
            elif entry := _ENTRY.match(self.text, self.position):
                self._named(entry)
            else:
                self.position = max(self.position, start) + 1
        return [entry for entry in self.entries if entry]

    def _skip(self) -> None:
        while self.position < len(self.text) and self.text[self.position] in " \t\r\n|,;":
            self.position += 1

    def _field(self, name: str, end: int, new: bool) -> None:
        last = self.entries[-1] if self.entries else None
        if new or last is None or (name in last and name in ("name", "scope", "condition")):
            self.entries.append({})
        word = _WORD.match(self.text, end) if name in _ONE_WORD else None
        self.position = word.end() if word else end
        self._set(name, bare_value(word[1]) if word else self._value())

    def _named(self, entry: re.Match[str]) -> None:
        """`I1: "Exchange keyboard" -> ...`: the name, and what the section is about as its value."""
        self.position = entry.end()
        self.entries.append({"name": entry[1]})
        rest = self.text[self.position :].lstrip(" \t")
        if rest and rest[0] != "\n" and not _ARROW.match(rest) and not _FIELD.match(rest):
            self._set(_MAIN[self.section], self._value())

    def _set(self, name: str, value: Any) -> None:
        if self.entries:
            self.entries[-1].setdefault(name, value)

    def _items(self, item: re.Match[str] | None) -> list[Any]:
        """A list written with dashes."""
        items = []
        while item:
            items.append(_bare_or_quoted(item[1].strip()))
            self.position = item.end()
            item = _ITEM.match(self.text, self.position)
        return items

    def _value(self) -> Any:
        """The value from here on: quoted, a list, or words up to the end of the line or the next field."""
        while self.position < len(self.text) and self.text[self.position] in " \t":
            self.position += 1
        if quoted := _QUOTED.match(self.text, self.position):
            self.position = quoted.end()
            return _unescaped(quoted)
        if listed := _LIST.match(self.text, self.position):
            self.position = listed.end()
            return _list(listed[0])
        if item := _ITEM.match(self.text, self.position):
            return self._items(item)
        end = _BARE_END.search(self.text, self.position)
        bare = self.text[self.position : end.start() if end else len(self.text)].strip()
        self.position = end.start() if end else len(self.text)
        return bare_value(bare)


def _bare_or_quoted(text: str) -> Any:
    quoted = _QUOTED.fullmatch(text)
    return _unescaped(quoted) if quoted else bare_value(text)


def bare_value(text: str) -> Any:
    """Words without quotes: true, false, null and numbers as such; anything else, `0012` included, as text."""
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def _unescaped(quoted: re.Match[str]) -> str:
    if quoted[1] is None:
        return quoted[2].replace("''", "'")
    try:
        return str(json.loads(f'"{quoted[1]}"', strict=False))
    except ValueError:
        return quoted[1]


def _list(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^,]+", text[1:-1])
        return [bare_value(part.strip().strip("\"'")) for part in parts if part.strip()]
    return value if isinstance(value, list) else []
