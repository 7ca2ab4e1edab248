"""Demonstrations for the tool caller: a query, what is remembered, and the call with every argument decided.

Two kinds in balance: the memory decides an argument, and the memory has nothing to do with the query, so that all that
was not said stays "unspecified".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal

import dspy

from eval.data.catalogue import preference_slots
from eval.data.instances import Facts, determined_slots
from eval.data.labels.hypotheses import MOST_STANCES, hypothesis
from eval.data.observations import executed_calls, stance_counts
from eval.data.preferences import Mapping, Stance
from eval.instance import Instance
from prefine_dspy.call_schema import UNSPECIFIED
from prefine_dspy.rendering import query_text, sessions_text
from prefine_dspy.tools import Catalogue, Tool
from prefine_dspy.types import History, Session, ToolCall, value_text
from programs.compilation.demonstrations import Labelled

Memory = Literal["hypothesis", "history"]
# sessions of a shortened history: enough to show that something recurs, few enough for several demonstrations
SHOWN_SESSIONS = 3


def caller_demonstrations(
    histories: Sequence[History],
    instances: Sequence[Instance],
    mapping: Mapping,
    tools_of: Callable[[Instance], Catalogue],
    memory: Memory = "hypothesis",
    seed: int = 0,
) -> list[Labelled]:
    """Every query of the train split with a memory that decides it, and with one that does not.

    Args:
        histories, instances: of the train split.
        mapping: which arguments express which preference.
        tools_of: the catalogue that a query is asked with.
        memory: "hypothesis", the sentence that the history's annotation bears; "history", for full-history prompting,
            a history cut down to the sessions that matter and one that does not, since a few whole ones as
            demonstrations would be thousands of tokens.
        seed: which foreign memory a query is shown with.
    """
    facts = {history.id: Facts(history, mapping) for history in histories}
    variants = {history.id: variant for variant, history in enumerate(histories)}
    rng = random.Random(seed)
    found = []
    for instance in instances:
        tool = tools_of(instance).get(instance.gold[0].name) if instance.gold else None
        if tool is None:
            continue
        case = _Case(instance, facts[instance.history_id], variants[instance.history_id], tool)
        own = case.remembered(memory)
        if case.decided and own:
            found.append(case.demonstration(own, instance.gold[0], "applies"))
        foreign = [one for one in facts.values() if _says_nothing(one, instance.gold[0].name)]
        if foreign:
            other = rng.choice(foreign)
            text = _whole(other, variants[other.history.id], memory)
            found.append(case.demonstration(text, case.stated_call(), "abstains"))
    return found


def remembered(facts: Facts, instance: Instance, tools: Catalogue, memory: Memory, variant: int = 0) -> str:
    """A memory, by the annotation, that decides what a query leaves open; "" when the annotation has none."""
    tool = tools.get(instance.gold[0].name) if instance.gold else None
    return _Case(instance, facts, variant, tool).remembered(memory) if tool else ""


class _Case:
    """One instance to train on."""

    def __init__(self, instance: Instance, facts: Facts, variant: int, tool: Tool) -> None:
        self.instance = instance
        self.facts = facts
        self.variant = variant
        self.tool = tool
        gold = instance.gold[0]
        said = query_text(instance.query).casefold()
        slots = preference_slots().get(gold.name, ())
        self.decided = {
            argument: value_text(value)
            for argument, value in gold.arguments.items()
            if argument in slots and value_text(value).casefold() not in said
        }

    def remembered(self, memory: Memory) -> str:
        """A memory that decides the arguments that the query leaves open; "" when the annotation has none."""
        triplets = [(self.tool.name, argument, value) for argument, value in self.decided.items()]
        labels = [self.facts.mapping.label(triplet) for triplet in triplets]
        stances = [stance for stance in labels if stance is not None and stance in self.facts.established]
        if memory == "history":
            return sessions_text(self._sessions_that_matter(stances))
        loose = [triplet for triplet, stance in zip(triplets, labels, strict=True) if stance not in stances]
        others = sorted(set(self.facts.established) - set(stances))
        chosen = list(dict.fromkeys([*stances, *others]))[:MOST_STANCES]
        return hypothesis(self.facts.calls, self.facts.mapping, chosen, loose, self.variant)

    def _sessions_that_matter(self, stances: list[Stance]) -> list[Session]:
        """Those that set the decided arguments, or else express the same preference, and one about something else."""
        sessions = self.facts.history.sessions
        wanted = {(self.tool.name, argument, value) for argument, value in self.decided.items()}
        direct = [one for one in sessions if any(t in wanted for call in one.calls for t in call.triplets())]
        alike = [one for one in sessions if one not in direct and self._expresses(one, stances)]
        matter = (direct + alike)[: SHOWN_SESSIONS - 1]
        rest = [one for one in sessions if one not in direct and one not in alike]
        return sorted(matter + rest[:1], key=sessions.index)

    def _expresses(self, session: Session, stances: list[Stance]) -> bool:
        return any(stance in stance_counts(executed_calls([session]), self.facts.mapping) for stance in stances)

    def stated_call(self) -> ToolCall:
        """Only what the query says."""
        gold = self.instance.gold[0]
        kept = {argument: value for argument, value in gold.arguments.items() if argument not in self.decided}
        return ToolCall(name=gold.name, arguments=kept)

    def demonstration(self, memory: str, call: ToolCall, outcome: str) -> Labelled:
        demo = dspy.Example(memory=memory, query=query_text(self.instance.query), call=explicit(call, self.tool))
        preference = self.instance.preference if outcome == "applies" else ""
        kind = (outcome, self.instance.query_type, preference, self.tool.name)
        return Labelled(demo.with_inputs("memory", "query"), kind)


def explicit(call: ToolCall, tool: Tool) -> dict[str, object]:
    """A call in the form that the caller answers in: every argument of the tool, "unspecified" included."""
    arguments = {
        parameter.name: call.arguments[parameter.name] if parameter.name in call.arguments else UNSPECIFIED
        for parameter in tool.parameters
    }
    return {"function": call.name, "arguments": arguments}


def _says_nothing(facts: Facts, function: str) -> bool:
    """The history establishes something, but nothing that touches the function."""
    if not facts.established or function not in preference_slots():
        return False
    touched = {name for stance in facts.established for name, _ in facts.mapping.arguments(stance)}
    return function not in touched and not determined_slots(facts, function)


def _whole(facts: Facts, variant: int, memory: Memory) -> str:
    if memory == "history":
        telling = [one for one in facts.history.sessions if one.calls]
        return sessions_text(telling[: SHOWN_SESSIONS - 1])
    stances = list(facts.established)[:MOST_STANCES]
    return hypothesis(facts.calls, facts.mapping, stances, variant=variant)
