"""Instances by the rules of the released code, where they differ from the paper's text.

They are: Induction whatever the count; no Recall over contested histories; a gold with all values of the preference's
mapping, so any celebrity for an uncontested prefers_star; Recall for every recurring argument; the first template of a
function whatever it targets; the same query with different golds for one history. The run whose totals equal
the paper's 4,695 used these rules; the histories themselves could not be had, so the equality is not checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from eval.data.catalogue import preference_slots
from eval.data.instances import gold_calls
from eval.data.observations import evidence, executed_calls, stance_counts, value_counts, value_evidence
from eval.data.preferences import OTHER, Mapping, Stance
from eval.data.queries import Template, first_templates
from eval.instance import Instance, QueryType, ReasoningType
from prefine_dspy.types import History, ToolCall

# the order of the released population
CONDITIONS: tuple[tuple[QueryType, ReasoningType], ...] = (
    *(("cf", "recall"), ("cf", "induction"), ("cf", "transfer")),
    *(("cg", "recall"), ("cg", "induction"), ("cg", "transfer")),
)


class Entry(NamedTuple):
    """A latent preference of a history with its evidence, as in `api_calls_pref`.

    Args:
        stance: the celebrity is the dominating one.
        functions: those whose calls are its evidence.
    """

    stance: Stance
    functions: tuple[str, ...]


class Example(NamedTuple):
    """What the released rules look at.

    Args:
        history: the sessions.
        recurring: `api_calls`: one call a function with the values that recur.
        entries: `api_calls_pref`.
        contested: no Recall is built.
        majority: of a contested history the only side that counts; empty: every entry counts.
    """

    history: History
    recurring: tuple[ToolCall, ...]
    entries: tuple[Entry, ...]
    contested: bool = False
    majority: str = ""


def example_of(history: History, mapping: Mapping, majority: str = "") -> Example:
    """The same of a history of our own: what recurs, and the preferences with two observations or more."""
    calls = executed_calls(history.sessions)
    entries: list[Entry] = []
    counts = stance_counts(calls, mapping)
    for stance, n in sorted(counts.items()):
        rival = any(m > n for other, m in counts.items() if stance.opposes(other))
        if n >= 2 and not (rival and stance.preference == "prefers_star"):
            functions = {call.name for call in calls if stance in mapping.labels(call)}
            entries.append(Entry(stance, tuple(sorted(functions))))
    return Example(history, recurring_calls(calls), tuple(entries), bool(majority), majority)


def recurring_calls(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """`api_calls`: the values seen twice or more, one call a function; an argument with two such values is left out."""
    merged: dict[str, dict[str, list[str]]] = {}
    for (function, argument), values in sorted(value_counts(calls).items()):
        often = [value for value, n in values.items() if n >= 2]
        if often:
            merged.setdefault(function, {})[argument] = often
    return tuple(
        ToolCall(name=function, arguments={name: often[0] for name, often in arguments.items() if len(often) == 1})
        for function, arguments in merged.items()
    )


def released_instances(examples: Sequence[Example], mapping: Mapping) -> list[Instance]:
    """The instances of all examples, in the order of the released population."""
    found: list[Instance] = []
    for query_type, reasoning_type in CONDITIONS:
        templates = first_templates(query_type)
        for example in examples:
            pairs = list(_pairs(example, reasoning_type, templates, mapping))
            found += [_instance(example, pair, reasoning_type, k, mapping) for k, pair in enumerate(pairs)]
    return found


class _Pair(NamedTuple):
    template: Template
    slots: dict[str, tuple[str, ...]]
    stance: Stance | None


def _pairs(
    example: Example, reasoning_type: ReasoningType, templates: dict[str, Template], mapping: Mapping
) -> Iterator[_Pair]:
    if reasoning_type == "recall":
        yield from _recall(example, templates, mapping)
        return
    for entry in _used(example):
        slots = _mapped(entry.stance, example, mapping)
        if reasoning_type == "induction":
            functions = [name for name in entry.functions if name in slots]
        else:
            functions = sorted(slots.keys() - set(entry.functions))
        for name in functions:
            if name in templates:
                yield _Pair(templates[name], slots[name], entry.stance)


def _recall(example: Example, templates: dict[str, Template], mapping: Mapping) -> Iterator[_Pair]:
    if example.contested:
        return
    counted = preference_slots()
    done = set()
    for call in example.recurring or executed_calls(example.history.sessions):
        if call.name in done or call.name not in templates or call.name not in counted:
            continue
        slots: dict[str, tuple[str, ...]] = {}
        for _, argument, value in call.triplets():
            if argument in counted[call.name]:
                slots.setdefault(argument, (value,))
        if slots:
            done.add(call.name)
            labels = (mapping.label((call.name, argument, values[0])) for argument, values in slots.items())
            yield _Pair(templates[call.name], slots, next(filter(None, labels), None))


def _used(example: Example) -> list[Entry]:
    if not example.majority:
        return list(example.entries)
    return [entry for entry in example.entries if str(entry.stance) == example.majority]


def _mapped(stance: Stance, example: Example, mapping: Mapping) -> dict[str, dict[str, tuple[str, ...]]]:
    """By function, the slots of the preference's mapping with all their values."""
    any_star = stance.preference == "prefers_star" and not example.majority
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for function, argument, values in mapping.realisations(stance):
        found.setdefault(function, {})[argument] = tuple(sorted(mapping.stars)) if any_star else values
    return found


def _instance(example: Example, pair: _Pair, reasoning_type: ReasoningType, k: int, mapping: Mapping) -> Instance:
    template, slots, stance = pair
    calls = executed_calls(example.history.sessions)
    if stance:
        counts = evidence(calls, stance, mapping)
    else:
        argument, values = next(iter(slots.items()))
        counts = value_evidence(calls, (template.function, argument, values[0]))
    # Table 8 counts a query whose own target the gold leaves out as "other"
    missed = reasoning_type != "recall" and template.targets and not set(template.targets) & slots.keys()
    return Instance(
        id=f"{template.query_type}-{reasoning_type}-{example.history.id}_{k}",
        history_id=example.history.id,
        query=template.query(),
        query_type=template.query_type,
        reasoning_type=reasoning_type,
        gold=gold_calls(template, slots),
        preference=OTHER if missed or stance is None else stance.preference,
        evidence=counts,
        contested=bool(stance) and _opposed(stance, stance_counts(calls, mapping)),
    )


def _opposed(stance: Stance | None, counts: Counter[Stance]) -> bool:
    return stance is not None and any(stance.opposes(other) for other in counts)
