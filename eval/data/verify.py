"""Checks what a build promises, after it was made and independently of how (PRefine section 4.2, 4.4, A.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from eval.data.compose import Record
from eval.data.observations import executed_calls, stance_counts, value_counts
from eval.data.preferences import OTHER, Mapping, Rules
from eval.data.queries import templates, unseen_templates
from eval.instance import Instance
from prefine_dspy.errors import PrefineError


class BrokenInvariantError(PrefineError):
    """A build contradicts its own rules; the message names the history or the instance."""


def verify_build(records: Sequence[Record], instances: Sequence[Instance], mapping: Mapping, rules: Rules) -> None:
    """Raises BrokenInvariantError at the first thing that is wrong.

    Args:
        records: the histories with where they come from.
        instances: over them.
        mapping: which arguments express which preference.
        rules: "released" allows what that code does: Induction at any count, several instances for one query.
    """
    _unique("history id", (record.history.id for record in records))
    _unique("instance id", (instance.id for instance in instances))
    _unique("session", (session.id for record in records for session in record.history.sessions))
    for record in records:
        _history(record, mapping)
    by_id = {record.history.id: record for record in records}
    for instance in instances:
        if instance.history_id not in by_id:
            raise BrokenInvariantError(f"instance {instance.id}: no history {instance.history_id}")
        _gold(instance)
        if rules == "paper":
            _occurrence(instance, by_id[instance.history_id])
    if rules == "paper":
        _unique("query", (f"{i.history_id} {i.query_type} {i.schema_name} {i.query.id}" for i in instances))


def _unique(what: str, names: Iterable[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise BrokenInvariantError(f"{what} used more than once: {twice[0]}")


def _history(record: Record, mapping: Mapping) -> None:
    history, meta = record.history, record.meta
    order = {session.id: k for k, session in enumerate(history.sessions)}
    for part in meta.parts:
        places = [order[name] for name in part.sessions]
        if places != sorted(places):
            raise BrokenInvariantError(f"history {history.id}: the sessions of {part.user} are out of order")
    _one_side(record, mapping)
    if not meta.contested:
        return
    counts: Counter[str] = Counter()
    for call in executed_calls(history.sessions):
        counts.update({str(stance) for stance in mapping.labels(call)})
    if not counts[meta.majority] > counts[meta.minority] >= 2:
        sides = f"{meta.majority} {counts[meta.majority]}, {meta.minority} {counts[meta.minority]}"
        raise BrokenInvariantError(f"history {history.id}: no strict plurality ({sides})")
    minority = [order[name] for part in meta.parts if part.role == "competing" for name in part.sessions]
    majority = [order[name] for part in meta.parts if part.role == "supporting" for name in part.sessions]
    if (max(minority) < min(majority)) != (meta.arrangement == "ordered"):
        raise BrokenInvariantError(f"history {history.id}: not arranged as {meta.arrangement}")


def _one_side(record: Record, mapping: Mapping) -> None:
    """No preference other than the contested one is observed repeatedly on both sides (A.4)."""
    axes = {str(stance): stance.axis for stance in mapping.stances()}
    repeated: dict[str, list[str]] = {}
    for stance, n in stance_counts(executed_calls(record.history.sessions), mapping).items():
        if n >= 2:
            repeated.setdefault(stance.axis, []).append(f"{stance} {n}")
    for axis, sides in repeated.items():
        if len(sides) > 1 and axis != axes.get(record.meta.majority):
            found = ", ".join(sorted(sides))
            raise BrokenInvariantError(f"history {record.history.id}: both sides of {axis}, not contested ({found})")


def _gold(instance: Instance) -> None:
    if not instance.gold:
        raise BrokenInvariantError(f"instance {instance.id}: no gold call")
    first = instance.gold[0]
    shapes = {(call.name, tuple(call.arguments)) for call in instance.gold}
    differing = {
        name for call in instance.gold for name, value in call.arguments.items() if value != first.arguments.get(name)
    }
    if len(shapes) != 1 or len(differing) > 1:
        raise BrokenInvariantError(f"instance {instance.id}: the gold calls differ in more than one argument")


def _occurrence(instance: Instance, record: Record) -> None:
    """Never for Transfer, exactly once for Induction, again and again for Recall."""
    counts = value_counts(executed_calls(record.history.sessions))
    for function, argument, values in _targets(instance):
        seen = counts.get((function, argument), Counter())
        n = sum(seen[value] for value in values)
        if instance.reasoning_type == "transfer" and seen:
            raise BrokenInvariantError(f"instance {instance.id}: {function}.{argument} occurs in its history")
        if instance.reasoning_type == "induction" and n != 1:
            raise BrokenInvariantError(f"instance {instance.id}: {function}.{argument} occurs {n} times, not once")
        if instance.reasoning_type == "recall" and not (len(values) == 1 and n >= 2):
            raise BrokenInvariantError(f"instance {instance.id}: {function}.{argument} does not recur")


def _targets(instance: Instance) -> list[tuple[str, str, tuple[str, ...]]]:
    """The arguments of the gold that the query does not state, with their right values."""
    template = next(t for t in (*templates(), *unseen_templates()) if t.id == instance.query.id)
    values: dict[tuple[str, str], list[str]] = {}
    for call in instance.gold:
        for function, argument, value in call.triplets():
            if argument not in template.stated:
                values.setdefault((function, argument), []).append(value)
    if instance.preference == OTHER and not values and instance.gold[0].arguments == dict(template.stated):
        return []
    return [(function, argument, tuple(dict.fromkeys(right))) for (function, argument), right in values.items()]
