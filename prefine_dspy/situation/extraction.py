"""From a tool's return to facts, and to the short reference that stands for it in the history.

No LM is asked (IDSS section 3.2.1). A failed call changes no fact: its text stays in the history as it is, and is
kept as the outcome of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prefine_dspy.interop.outcomes import failed
from prefine_dspy.situation.facts import FactStore, Source
from prefine_dspy.situation.identity import EntityKey, call_key, listed_keys, record_key, scalar_text
from prefine_dspy.situation.reading import Form, Reading, read_return

RESULT, TEXT, ERROR = "result", "text", "error"
"""Attributes of a call's own entity: what it returned, prose around records, the text of a failure."""
LONGEST_VERBATIM = 400
"""Characters of a plain text that stays in the history as it is; a longer one is a fact with a reference."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one tool return did to the facts.

    Args:
        step: its number, counted from 1.
        tool: the tool that was called.
        arguments: of the call.
        form: how the return was read.
        entities: what it filled; the first is the record itself, or the call for listings and texts.
        error: the call failed.
        text: the return as it came.
        reference: what replaces the return in the history; equal to `text` where that is not longer, and for failures.
        elements: for a list, its elements in order, nested lists flattened: the entity that each filled, or None if it
            identifies nothing and stayed in the list.
    """

    step: int
    tool: str
    arguments: Mapping[str, Any]
    form: Form
    entities: tuple[EntityKey, ...]
    error: bool
    text: str
    reference: str
    elements: tuple[EntityKey | None, ...] = ()

    @property
    def verbatim(self) -> bool:
        """Whether the return stays in the history as it is."""
        return self.reference == self.text


def extract(
    facts: FactStore, step: int, tool: str, arguments: Mapping[str, Any], result: Any, error: bool | None = None
) -> Observation:
    """Store what a tool returned. Never raises.

    Args:
        error: whether the call failed; None to tell it from the return ("Error: ...", `{"error": ...}`).
    """
    reading = read_return(result)
    call = call_key(tool, arguments)
    source = Source("observed", step, tool, call.id)
    text = result if isinstance(result, str) else scalar_text(reading.value)
    if error or (error is None and is_failure(reading)):
        facts.write(call, ERROR, text, source)
        return Observation(step, tool, arguments, reading.form, (call,), True, text, text)
    elements: tuple[EntityKey | None, ...] = ()
    if isinstance(reading.value, dict):
        key = record_key(tool, arguments, reading.value)
        _write(facts, key, reading.value, source, whole=key == call)
        entities: tuple[EntityKey, ...] = (key,)
    elif isinstance(reading.value, list):
        elements = _write_listing(facts, call, reading, arguments, source)
        entities = (call, *dict.fromkeys(key for key in elements if key is not None))
    else:
        _write(facts, call, {RESULT: reading.value}, source, whole=True)
        entities = (call,)
    reference = _reference(entities, reading)
    if len(text) <= (LONGEST_VERBATIM if reading.form == "text" else len(reference)):
        reference = text
    return Observation(step, tool, arguments, reading.form, entities, False, text, reference, elements)


def is_failure(reading: Reading) -> bool:
    """Whether a return says that the call failed. The status "failed" of a payment is a fact, not a failure."""
    if isinstance(reading.value, str):
        return reading.value.lstrip()[:14].casefold() == "unknown action" or failed(reading.value)
    if not isinstance(reading.value, dict):
        return False
    return any(reading.value.get(key) for key in ("error", "isError", "is_error"))


def _write(facts: FactStore, key: EntityKey, record: Mapping[str, Any], source: Source, whole: bool) -> None:
    """Store a record; `whole`: what it no longer has is gone, as for a call's own entity."""
    if whole:
        for gone in [name for name in facts.entity(key) if name not in record]:
            facts.forget(key, gone)
    facts.write_all(key, record, source)


def _write_listing(
    facts: FactStore, call: EntityKey, reading: Reading, arguments: Mapping[str, Any], source: Source
) -> tuple[EntityKey | None, ...]:
    """Store a list's records as entities of their own and the list itself as references to them, in its order."""
    flat = list(_flat(reading.value))
    records = [one for one in flat if isinstance(one, dict)]
    keys = listed_keys(call.type, arguments, records, reading.types)
    by_record = iter(keys)
    elements = tuple(next(by_record) if isinstance(one, dict) else None for one in flat)
    before = listed(facts, call)
    for key, record in zip(keys, records, strict=True):
        if key is not None:
            _write(facts, key, record, source, whole=False)
    remaining = iter(elements)
    listing = {RESULT: _with_references(reading.value, remaining)}
    _write(facts, call, listing | ({TEXT: reading.prose} if reading.prose else {}), source, whole=True)
    for key in before - set(elements):
        # the same search no longer finds it; what another call has seen stays
        if all(
            fact.source.tool == source.tool and fact.source.arguments == source.arguments
            for fact in facts.entity(key).values()
        ):
            facts.forget(key)
    return elements


def listed(facts: FactStore, call: EntityKey) -> set[EntityKey]:
    """The entities that a call's listing refers to."""
    fact = facts.entity(call).get(RESULT)
    return (
        {one for one in _flat(fact.value) if isinstance(one, EntityKey)}
        if fact and isinstance(fact.value, list)
        else set()
    )


def _flat(value: list[Any]) -> Any:
    for one in value:
        if isinstance(one, list) and one:
            yield from _flat(one)
        else:
            yield one


def _with_references(value: list[Any], elements: Any) -> list[Any]:
    """The list with every identified element replaced by its entity's key."""
    return [
        _with_references(one, elements) if isinstance(one, list) and one else (next(elements) or one) for one in value
    ]


def _reference(entities: tuple[EntityKey, ...], reading: Reading) -> str:
    """`-> reservation R42`, `-> 3 flights`."""
    first, *rest = entities
    if isinstance(reading.value, dict):
        return f"-> {first}" if first.id else f"-> {first.type}"
    if isinstance(reading.value, list) and rest:
        types = dict.fromkeys(key.type for key in rest)
        return f"-> {len(rest)} {'/'.join(types)}"
    return f"-> {first.type} in the facts"
