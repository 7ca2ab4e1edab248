"""Facts as tables: the names of attributes once a type, then a row an entity. Nested records are tables in a cell.

    reservation @3 user_id=u17 (cabin flights[(flight_number price)] insurance)
    R42 economy [XY170 304; XY22 189] no

reads: of every reservation listed below, seen at step 3, user_id is u17; then cabin, flights, insurance in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prefine_dspy.situation.identity import EntityKey, scalar_text
from prefine_dspy.situation.notation import atom, plain
from prefine_dspy.situation.snapshot import View

_ABSENT = "-"
_SPARSE = 0.6
"""A nested table with a smaller share of filled cells names its values instead."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the values of one column have in common.

    Args:
        kind: "atom", anything, written as it is; "record", an object with known keys; "records", a list of such;
            "map", an object whose keys are ids of such.
        columns: names and shapes of a record's keys.
        key: of a map: the attribute that repeats the key a record stands under, and is not a column.
    """

    kind: str = "atom"
    columns: tuple[tuple[str, Shape], ...] = ()
    key: str = ""

    def header(self) -> str:
        """`[(flight_number price)]`; empty for plain values."""
        inside = " ".join(f"{atom(name)}{shape.header()}" for name, shape in self.columns)
        map = f"{{{atom(self.key)}: ({inside})}}"
        return {"atom": "", "record": f"({inside})", "records": f"[({inside})]", "map": map}[self.kind]

    def row(self, record: dict[str, Any]) -> str:
        """The cells of a record, by position."""
        return " ".join(shape.cell(record[name]) if name in record else _ABSENT for name, shape in self.columns)

    def cell(self, value: Any) -> str:
        if self.kind == "record":
            return f"({self.row(value)})"
        if self.kind == "records":
            return "[" + "; ".join(self.row(one) for one in value) + "]"
        if self.kind == "map":
            return (
                "{" + "; ".join(f"{atom(key)} {self.row(_without(one, self.key))}" for key, one in value.items()) + "}"
            )
        return plain(value)


def shape_of(values: Sequence[Any]) -> Shape:
    """The shape that all values of a column have."""
    if not values:
        return Shape()
    if all(isinstance(one, dict) and one for one in values):
        if key := _map_key(values):
            columns = _columns([_without(one, key) for value in values for one in value.values()])
            return Shape("map", columns, key) if columns else Shape()
        columns = _columns(values)
        return Shape("record", columns) if columns else Shape()
    if all(isinstance(one, list) for one in values):
        elements = [one for value in values for one in value]
        if len(elements) > 1 and all(isinstance(one, dict) and one for one in elements):
            columns = _columns(elements)
            return Shape("records", columns) if columns else Shape()
    return Shape()


def _map_key(values: Sequence[dict[str, Any]]) -> str | None:
    """The attribute in which every element repeats the key that it stands under; None if the keys are no such ids."""
    inner = [(key, one) for value in values for key, one in value.items()]
    if len(inner) < 2 or not all(isinstance(one, dict) and len(one) > 1 for _, one in inner):
        return None
    key, first = inner[0]
    own = next((name for name, value in first.items() if value == key and isinstance(value, str)), None)
    return own if own and all(one.get(own) == key for key, one in inner) else None


def _without(record: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != name}


def _columns(records: Sequence[dict[str, Any]]) -> tuple[tuple[str, Shape], ...]:
    """The columns of a table of records; empty where naming every value is shorter."""
    names = dict.fromkeys(name for record in records for name in record)
    filled = sum(len(record) for record in records)
    if not names or filled < _SPARSE * len(names) * len(records):
        return ()
    return tuple((name, shape_of([record[name] for record in records if name in record])) for name in names)


def render_table(views: Sequence[View]) -> str:
    """The most compact form. Entities of one type and search share a table."""
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[View]] = {}
    for view in views:
        groups.setdefault((view.key.type, view.key.scope), []).append(view)
    return "\n".join(_table(group) for group in groups.values())


def _table(views: Sequence[View]) -> str:
    key = views[0].key
    shared: dict[str, Any] = dict(key.scope)
    records = [_own_values(view) for view in views]
    if len(views) > 1:
        first = records[0]
        for name in first:
            if not isinstance(first[name], dict | list) and all(_has(one, name, first[name]) for one in records):
                shared[name] = first[name]
    records = [{name: value for name, value in one.items() if name not in shared} for one in records]
    names = dict.fromkeys(name for record in records for name in record)
    columns = tuple((name, shape_of([one[name] for one in records if name in one])) for name in names)
    shape = Shape("record", columns)
    steps = {view.source.step for view in views}
    head = [key.type, *([f"@{steps.pop()}"] if len(steps) == 1 else [])]
    head += [f"{atom(name)}={plain(value)}" for name, value in shared.items()]
    if len(views) == 1 and not key.id:
        return " ".join([*head, *(f"{atom(name)}={plain(value)}" for name, value in records[0].items())])
    rows = []
    for view, record in zip(views, records, strict=True):
        step = f" @{view.source.step}" if len(steps) > 1 else ""
        rows.append(f"{atom(view.key.id)} {shape.row(record)}".rstrip() + step)
    return "\n".join([" ".join([*head, shape.header()] if columns else head), *rows])


def _own_values(view: View) -> dict[str, Any]:
    """The values that neither the id nor the search already tells."""
    told = dict(view.key.scope)
    values = {
        name: value for name, value in view.values.items() if name not in told or scalar_text(value) != told[name]
    }
    return {name: value for name, value in values.items() if not _is_id(view.key, name, value)}


def _is_id(key: EntityKey, name: str, value: Any) -> bool:
    return isinstance(value, str) and value == key.id and name.casefold().endswith(("id", "number"))


def _has(record: dict[str, Any], name: str, value: Any) -> bool:
    return name in record and type(record[name]) is type(value) and record[name] == value
