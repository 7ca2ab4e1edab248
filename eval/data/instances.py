"""Instances of one history by the paper's rules (PRefine section 4.4, appendix A.5).

The target argument's value recurs in the history (Recall), occurs exactly once (Induction) or its argument never
occurs (Transfer). One history, function and query type give at most one instance, and none when the history
determines more of the function's arguments than the instance could hold in one gold call: so no query has two
right answers.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from eval.data.catalogue import preference_slots
from eval.data.observations import (
    established,
    evidence,
    executed_calls,
    recurring,
    stance_counts,
    value_counts,
    value_evidence,
)
from eval.data.preferences import OTHER, Mapping, Stance
from eval.data.queries import Template, first_templates, unseen_template
from eval.instance import Evidence, Instance, QueryType, ReasoningType
from prefine_dspy.types import History, ToolCall

QUERY_TYPES: tuple[QueryType, ...] = ("cg", "cf")

# of the histories where an argument's preference is never established, the share that is asked for it all the same:
# keeps "other" near its share of Table 8 (6 % of Induction and Transfer, context-guided)
ABSTENTION_SHARE = 0.3


class Slot(NamedTuple):
    """What a history determines for one argument: the values that are right, and how they are reached."""

    argument: str
    values: tuple[str, ...]
    reached: ReasoningType | Literal["unclear"]
    stance: Stance | None


class Facts:
    """What the instances of one history follow from.

    Args:
        history: its sessions' records are the evidence.
        mapping: which arguments express which preference.
    """

    def __init__(self, history: History, mapping: Mapping) -> None:
        self.history = history
        self.mapping = mapping
        self.calls = executed_calls(history.sessions)
        self.counts = value_counts(self.calls)
        self.stances = stance_counts(self.calls, mapping)
        self.established = established(self.calls, mapping)

    @cached_property
    def recurring(self) -> dict[tuple[str, str], str]:
        return recurring(self.counts)

    def opposed(self, stance: Stance) -> bool:
        """The history holds an observation of a side that opposes the stance."""
        return any(stance.opposes(other) for other in self.stances)


def build_instances(facts: Facts, rng: random.Random) -> list[Instance]:
    """All instances of a history over the base functions and over the unseen ones.

    Args:
        facts: of the history.
        rng: decides which unestablished argument is asked for, nothing else.
    """
    found: list[Instance] = []
    for query_type in QUERY_TYPES:
        of_type = [
            instance
            for function, template in sorted(first_templates(query_type).items())
            if (instance := _instance(facts, template, determined_slots(facts, function)))
        ]
        if query_type == "cg":
            of_type += _abstention(facts, rng)
        found += _numbered(of_type)
    return found + unseen_instances(facts)


def unseen_instances(facts: Facts) -> list[Instance]:
    """Transfer to the seven functions that no history calls (appendix D.6), for every preference it establishes."""
    return _numbered(_unseen(facts), kind="unseen")


def determined_slots(facts: Facts, function: str) -> list[Slot]:
    """The preference arguments of a function that the history determines."""
    slots: dict[str, Slot] = {}
    for stance in facts.established:
        for realisation in facts.mapping.realisations(stance):
            if realisation.function == function and (slot := _established_slot(facts, stance, *realisation)):
                slots[slot.argument] = slot
    for argument in preference_slots()[function]:
        value = facts.recurring.get((function, argument))
        if value is not None and argument not in slots:
            slots[argument] = Slot(argument, (value,), "recall", facts.mapping.label((function, argument, value)))
    return [slots[name] for name in preference_slots()[function] if name in slots]


def _established_slot(
    facts: Facts, stance: Stance, function: str, argument: str, values: tuple[str, ...]
) -> Slot | None:
    seen = facts.counts.get((function, argument), Counter())
    if not seen:
        return Slot(argument, values, "transfer", stance)
    n = sum(count for value, count in seen.items() if value in values)
    rivals = [
        value
        for value, count in seen.items()
        if value not in values and count >= 2 and not _opposing(facts, stance, (function, argument, value))
    ]
    if n == 1 and not rivals:
        return Slot(argument, values, "induction", stance)
    value = facts.recurring.get((function, argument))
    if value in values and not rivals:
        return Slot(argument, (value,), "recall", stance)
    # 4 and 5 stars once each, or a value that recurs beside the preference's: no single right answer
    return Slot(argument, values, "unclear", stance)


def _opposing(facts: Facts, stance: Stance, triplet: tuple[str, str, str]) -> bool:
    other = facts.mapping.label(triplet)
    return other is not None and stance.opposes(other)


def _instance(facts: Facts, template: Template, slots: list[Slot]) -> Instance | None:
    slots = [slot for slot in slots if slot.argument not in template.stated]
    kinds = {slot.reached for slot in slots}
    if not slots or "unclear" in kinds or (kinds != {"recall"} and len(slots) > 1):
        return None
    # the slot whose value expresses a preference names the instance, else it is an idiosyncratic one
    target = next((slot for slot in slots if slot.stance), slots[0])
    assert target.reached != "unclear"
    if target.stance:
        counts = evidence(facts.calls, target.stance, facts.mapping)
    else:
        counts = value_evidence(facts.calls, (template.function, target.argument, target.values[0]))
    return _make(facts, template, {s.argument: s.values for s in slots}, target.reached, target.stance, counts)


def _make(
    facts: Facts,
    template: Template,
    slots: dict[str, tuple[str, ...]],
    reasoning_type: ReasoningType,
    stance: Stance | None,
    counts: Evidence | None,
) -> Instance:
    return Instance(
        id="",
        history_id=facts.history.id,
        query=template.query(),
        query_type=template.query_type,
        reasoning_type=reasoning_type,
        gold=gold_calls(template, slots),
        preference=stance.preference if stance else OTHER,
        evidence=counts,
        contested=bool(stance and facts.opposed(stance)),
    )


def gold_calls(template: Template, slots: dict[str, tuple[str, ...]]) -> tuple[ToolCall, ...]:
    """The stated arguments with one value of every slot, once for each combination; a slot overrides what is stated."""
    names = sorted(slots)
    return tuple(
        ToolCall(
            name=template.function,
            arguments=dict(sorted({**template.stated, **dict(zip(names, values, strict=True))}.items())),
        )
        for values in itertools.product(*(sorted(slots[name]) for name in names))
    )


def _abstention(facts: Facts, rng: random.Random) -> Iterator[Instance]:
    """At most one query for an argument whose preference the history shows nothing of: the gold leaves it out."""
    ask = rng.random() < ABSTENTION_SHARE and bool(facts.established)
    candidates = [(t, kind) for t in first_templates("cg").values() if (kind := _unestablished(facts, t))]
    if ask and candidates:
        template, kind = rng.choice(candidates)
        yield _make(facts, template, {}, kind, None, None)


def _unestablished(facts: Facts, template: Template) -> ReasoningType | None:
    function, argument = template.function, template.targets[0]
    tied = [s for s in facts.mapping.stances() if (function, argument) in facts.mapping.arguments(s)]
    open_slots = [s for s in determined_slots(facts, function) if s.argument not in template.stated]
    if not tied or open_slots:
        return None
    occurrences = sum(facts.counts.get((function, argument), {}).values())
    hints = sum(facts.stances[stance] for stance in tied)
    if occurrences == 0 and hints == 0:
        return "transfer"
    return "induction" if occurrences == 1 and hints <= 1 and _only_here(facts, tied, function, argument) else None


def _only_here(facts: Facts, tied: list[Stance], function: str, argument: str) -> bool:
    """What the history shows of the stances, if anything, it shows at this very argument."""
    here = sum(facts.counts[function, argument][v] for v in facts.counts[function, argument])
    return sum(facts.stances[stance] for stance in tied) <= here


def _unseen(facts: Facts) -> Iterator[Instance]:
    filled: dict[str, list[tuple[Stance, str, tuple[str, ...]]]] = {}
    for stance in facts.established:
        for function, argument, values in facts.mapping.unseen_realisations(stance):
            filled.setdefault(function, []).append((stance, argument, values))
    for query_type in QUERY_TYPES:
        for function, slots in sorted(filled.items()):
            stance, argument, values = slots[0]
            template = unseen_template(query_type, function, argument)
            if len(slots) == 1 and template:
                made = _make(facts, template, {argument: values}, "transfer", stance, facts.established[stance])
                yield made.model_copy(update={"schema_name": "extended"})


def _numbered(instances: Iterable[Instance], kind: str = "") -> list[Instance]:
    return [
        one.model_copy(update={"id": "-".join(filter(None, (one.history_id, kind, one.query_type, f"{k:02d}")))})
        for k, one in enumerate(instances)
    ]
