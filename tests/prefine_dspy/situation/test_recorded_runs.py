"""Facts and propagation on real runs: nothing is lost, nothing is stale, and each naive rule fails where it must."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import Call, Run, tau_runs, vita_returns

from prefine_dspy.situation import SituationState
from prefine_dspy.situation.extraction import ERROR, RESULT, Observation
from prefine_dspy.situation.facts import FactStore
from prefine_dspy.situation.identity import EntityKey, call_key
from prefine_dspy.situation.paths import Path as ValuePath
from prefine_dspy.situation.paths import leaves

pytestmark = pytest.mark.shared_data
Slot = tuple[EntityKey, ValuePath]


def decoded(text: str) -> Any:
    """The object or list that a return is; None for errors and plain text."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def flat(value: list[Any]) -> Iterator[Any]:
    for one in value:
        yield from flat(one) if isinstance(one, list) and one else [one]


def slots(call: Call, seen: Observation) -> dict[Slot, Any]:
    """Every scalar of a return, read with json alone, under the entity that the store says it went to."""
    value = decoded(call.result)
    if value is None:
        return {(seen.entities[0], (ERROR if seen.error else RESULT,)): call.result}
    if isinstance(value, dict):
        return {(seen.entities[0], path): leaf for path, leaf in leaves(value)}
    if not value:
        return {(seen.entities[0], (RESULT,)): []}
    found: dict[Slot, Any] = {}
    for record, key in zip(flat(value), seen.elements, strict=True):
        assert key is not None
        found |= {(key, path): leaf for path, leaf in leaves(record)}
    return found


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def test_every_scalar_is_answerable_after_its_observation_and_none_is_stale_at_the_end(shared_data: Path) -> None:
    scalars = missing = stale = extra = 0
    for run in tau_runs(shared_data):
        situation = SituationState()
        latest: dict[Slot, Any] = {}
        for call in run.calls:
            seen = situation.observe(call.tool, call.arguments, call.result)
            new = slots(call, seen)
            value = decoded(call.result)
            scalars += sum(1 for _ in leaves(value)) if value else 1
            missing += sum(not same(situation.facts.value(key, path), leaf) for (key, path), leaf in new.items())
            # a container that comes again replaces what was stored in it
            replaced = {(key, path[0]) for key, path in new}
            latest = {slot: leaf for slot, leaf in latest.items() if (slot[0], slot[1][0]) not in replaced} | new
        stored = dict(stored_slots(situation.facts))
        stale += sum(slot in stored and not same(stored[slot], leaf) for slot, leaf in latest.items())
        missing += sum(slot not in stored for slot in latest)
        extra += sum(slot not in latest for slot in stored if not is_reference(stored[slot]))
    assert (scalars, missing, stale, extra) == (49_286, 0, 0, 0)


def stored_slots(facts: FactStore) -> Iterator[tuple[Slot, Any]]:
    for key in facts:
        for name, fact in facts.entity(key).items():
            for path, leaf in leaves(fact.value, (name,)):
                yield (key, path), leaf


def is_reference(value: Any) -> bool:
    return isinstance(value, EntityKey)


def overwrites(facts: FactStore) -> Counter[str]:
    """Leaves whose value was replaced by another one, and leaves that a newer container no longer has."""
    counted: Counter[str] = Counter()
    for key in facts:
        for fact in facts.entity(key).values():
            chain = [dict(leaves(value)) for value, _ in fact.replaced] + [dict(leaves(fact.value))]
            for old, new in zip(chain, chain[1:], strict=False):
                counted["replaced"] += sum(path in new and not same(new[path], leaf) for path, leaf in old.items())
                counted["gone"] += sum(path not in new for path in old)
    return counted


def airline(folder: Path) -> list[Run]:
    return [run for run in tau_runs(folder) if run.domain == "airline"]


def test_prices_of_one_date_do_not_replace_those_of_another(shared_data: Path) -> None:
    counted: Counter[str] = Counter()
    for run in airline(shared_data):
        situation = SituationState()
        for call in run.calls:
            situation.observe(call.tool, call.arguments, call.result)
        counted += overwrites(situation.facts)
    assert counted["replaced"] == 285
    assert counted["gone"] == 110, "what a store without the container rule would keep as stale leaves"


def test_a_flight_number_without_its_date_would_mix_days(shared_data: Path) -> None:
    replaced = lost = 0
    for run in airline(shared_data):
        naive: dict[Slot, Any] = {}
        situation = SituationState()
        for call in run.calls:
            new = without_scope(call, situation.observe(call.tool, call.arguments, call.result))
            for slot, leaf in new:
                replaced += slot in naive and not same(naive[slot], leaf)
                naive[slot] = leaf
            lost += sum(not same(naive[slot], leaf) for slot, leaf in new)
    assert (replaced, lost) == (452, 8)


def without_scope(call: Call, seen: Observation) -> list[tuple[Slot, Any]]:
    """The slots of a return if a listed record were identified by its id alone."""
    value = decoded(call.result)
    if not isinstance(value, list):
        return list(slots(call, seen).items()) if value else []
    records = zip(flat(value), seen.elements, strict=True) if value else []
    return [
        ((EntityKey(key.type, key.id.partition(" #")[0]), path), leaf)
        for record, key in records
        if key is not None
        for path, leaf in leaves(record)
    ]


def test_a_booking_is_not_filed_under_the_user_it_was_made_for(shared_data: Path) -> None:
    booked = []
    for run in airline(shared_data):
        situation = SituationState()
        for call in run.calls:
            seen = situation.observe(call.tool, call.arguments, call.result)
            if call.tool == "book_reservation" and not seen.error:
                booked.append((seen.entities[0], decoded(call.result)["reservation_id"]))
                # the first id among the arguments is the user's: it must not win
                assert next(name for name in call.arguments if name.endswith("_id")) == "user_id"
    assert len(booked) == 23
    assert all(key == EntityKey("reservation", id) for key, id in booked)


def test_a_bare_number_stays_the_text_that_it_is(shared_data: Path) -> None:
    numbers = 0
    for run in tau_runs(shared_data):
        situation = SituationState()
        for call in run.calls:
            seen = situation.observe(call.tool, call.arguments, call.result)
            if call.tool == "calculate":
                value = situation.facts.value(call_key(call.tool, call.arguments), (RESULT,))
                numbers += isinstance(json.loads(call.result), float) and value == call.result == seen.reference
    assert numbers == 110


def violations(folder: Path, tool: str, check: str) -> Iterator[tuple[SituationState, Call]]:
    """Calls of a tool at which a check was violated just before, with the situation then."""
    calls = 0
    for run in airline(folder):
        situation = SituationState()
        for call in run.calls:
            if call.tool == tool:
                calls += 1
                situation.require("rule", check.format(call.arguments["reservation_id"]))
                if situation.check().violated == ("rule",):
                    yield situation, call
            situation.observe(call.tool, call.arguments, call.result)
    assert calls == {"update_reservation_flights": 104, "cancel_reservation": 69}[tool]


def test_the_basic_economy_rule_fires_at_17_of_104_updates(shared_data: Path) -> None:
    found = changed = 0
    for situation, call in violations(
        shared_data, "update_reservation_flights", "reservation {}.cabin != basic_economy"
    ):
        found += 1  # the policy lets a cabin be changed, but no flight
        flights = situation.find(f"reservation {call.arguments['reservation_id']}", "flights")
        assert flights is not None
        legs = [(one["flight_number"], one["date"]) for one in flights.value]
        changed += legs != [(one["flight_number"], one["date"]) for one in call.arguments["flights"]]
    assert (found, changed) == (29, 17)


def test_the_cancellation_rule_fires_at_15_of_69_cancellations(shared_data: Path) -> None:
    rule = "reservation {}.created_at >= 2024-05-14T15:00:00 or cabin == business or insurance == yes"
    assert sum(1 for _ in violations(shared_data, "cancel_reservation", rule)) == 15


def test_errors_are_recognised_and_change_no_fact(shared_data: Path) -> None:
    errors: Counter[str] = Counter()
    for run in tau_runs(shared_data):
        situation = SituationState()
        for call in run.calls:
            before = {slot: leaf for slot, leaf in stored_slots(situation.facts) if slot[1] != (ERROR,)}
            seen = situation.observe(call.tool, call.arguments, call.result)
            if seen.error:
                errors[run.domain] += 1
                after = {slot: leaf for slot, leaf in stored_slots(situation.facts) if slot[1] != (ERROR,)}
                assert before == after
                assert seen.reference == call.result
    assert errors == {"airline": 73, "retail": 24}


def test_all_569_records_of_vitabench_are_read_as_the_database_has_them(shared_data: Path) -> None:
    read = 0
    for one in vita_returns(shared_data):
        situation = SituationState()
        seen = situation.observe(one["tool"], one["arguments"], one["content"])
        for key, gold in zip(seen.elements, one["gold"], strict=False):
            assert key is not None and key.type == gold["type"]
            facts = {name: fact.value for name, fact in situation.facts.entity(key).items()}
            facts["address"] = facts.pop("location", None)
            read += all(same(facts.get(name), value) for name, value in gold["attributes"].items())
        if one["gold"]:
            assert seen.form == "records" and len(seen.elements) == len(one["gold"])
            with pytest.raises(ValueError):  # a fact layer that knows JSON only sees none of them
                json.loads(one["content"])
        elif one["content"].strip():
            assert seen.form in ("python", "lines", "records"), one["content"][:80]
    assert read == 569
