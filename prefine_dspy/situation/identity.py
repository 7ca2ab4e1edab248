"""Which entity a record is about.

The record's own first id-like key says it; else an id-like argument of the call; else the call itself. An id that
was an argument never wins over the record's own: a booking would be filed under the user it was made for. An element
of a list is valid for the arguments of its search: a flight number without its date would mix the prices of two days.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_ID_KEY = re.compile(
    r"(?P<stem>.*?)(?:(?:^|[_\-\s.])(?:id|uuid|number)|(?<=[a-z0-9])(?:Id|ID|Number)|(?<=[^\x00-\x7f])id)", re.DOTALL
)
_VERBS = frozenset(
    "get list search find fetch lookup look query show read retrieve check view create make book add update modify "
    "change cancel delete remove exchange return send set".split()
)
_NOISE = frozenset("details detail info information all by the my of for data result results record records".split())


class EntityKey(NamedTuple):
    """Args:
    type: "reservation", "StoreProduct"; a tool's name for what only the call identifies.
    id: "R42"; the arguments for what only the call identifies.
    scope: (argument, value) pairs of the search that listed it; empty for a record of its own.
    """

    type: str
    id: str
    scope: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        scope = ", ".join(f"{name}={value}" for name, value in self.scope)
        return f"{self.type} {self.id}".strip() + (f" ({scope})" if scope else "")


@lru_cache(maxsize=4096)
def id_stem(key: str) -> str | None:
    """What an id-like key identifies: "reservation" for reservation_id, "" for id; None for other keys."""
    found = _ID_KEY.fullmatch(key)
    return None if found is None else found["stem"].strip("_- .")


def call_key(tool: str, arguments: Mapping[str, Any]) -> EntityKey:
    """The entity that a call itself is: the home of results that identify nothing else."""
    return EntityKey(tool, ", ".join(f"{name}={scalar_text(value)}" for name, value in arguments.items()))


def record_key(tool: str, arguments: Mapping[str, Any], record: Mapping[str, Any]) -> EntityKey:
    """The entity of a record that a call returned by itself."""
    for source in (record, arguments):
        for name in _id_keys(source):
            return EntityKey(_type(name, "", tool), str(source[name]))
    return call_key(tool, arguments)


def listed_keys(
    tool: str, arguments: Mapping[str, Any], records: Sequence[Mapping[str, Any]], types: Sequence[str] = ()
) -> list[EntityKey | None]:
    """The entities of the records of one list; None for a record that identifies nothing.

    Two records that contradict each other are never one entity: the later is told apart by its position ("#3").

    Args:
        types: the records' type names where the text names them, in the same order.
    """
    asked_for = {scalar_text(value) for value in arguments.values()}
    id_key = _telling_key(records)
    keys: list[EntityKey | None] = []
    seen: dict[EntityKey, Mapping[str, Any]] = {}
    for at, record in enumerate(records):
        named = types[at] if at < len(types) else ""
        own = _typed_id_key(record, named) if named else id_key if _is_id(record.get(id_key)) else None
        own = own or next(iter(_id_keys(record)), None)
        if own is None:
            keys.append(None)
            continue
        id = str(record[own])
        key = EntityKey(_type(own, named, tool), id, () if id in asked_for else _scope(arguments, record))
        if seen.setdefault(key, record) != record:
            key = key._replace(id=f"{id} #{at + 1}")
        keys.append(key)
    return keys


def scalar_text(value: Any) -> str:
    """A value in one line: text as it is, the rest as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except Exception:  # noqa: BLE001 - too deep, circular, or a foreign object's own __str__
        return f"<{type(value).__name__}>"


def _id_keys(record: Mapping[str, Any]) -> list[str]:
    return [name for name, value in record.items() if id_stem(name) is not None and _is_id(value)]


def _is_id(value: Any) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (isinstance(value, int) and not isinstance(value, bool))


def _telling_key(records: Iterable[Mapping[str, Any]]) -> str:
    """The id-like key with the most distinct values: order lines share their order's id."""
    values: dict[str, set[str]] = {}
    for record in records:
        for name in _id_keys(record):
            values.setdefault(name, set()).add(str(record[name]))
    return max(values, key=lambda name: len(values[name]), default="")


def _typed_id_key(record: Mapping[str, Any], named: str) -> str | None:
    """A StoreProduct is identified by its product_id, although its store_id comes first."""
    fits = [key for key in _id_keys(record) if (stem := id_stem(key)) and named.casefold().endswith(stem.casefold())]
    return fits[0] if fits else None


@lru_cache(maxsize=4096)
def _type(id_key: str, named: str, tool: str) -> str:
    if named:
        return named
    if stem := id_stem(id_key):
        return stem
    words = [word for word in re.split(r"[_\-\s.]+|(?<=[a-z])(?=[A-Z])", tool) if word]
    while words and words[0].casefold() in _VERBS:
        words.pop(0)
    while words and words[-1].casefold() in _NOISE:
        words.pop()
    noun = "_".join(word.casefold() for word in words)
    return noun[:-1] if len(noun) > 3 and noun.endswith("s") and not noun.endswith("ss") else noun or tool


def _scope(arguments: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The arguments of the search, with the record's own word where it has one (a leg's origin is not the trip's)."""
    return tuple(
        (name, scalar_text(record[name] if _is_id(record.get(name)) else value)) for name, value in arguments.items()
    )
