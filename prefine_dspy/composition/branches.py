"""The calls of one function: what was said, with conditions fulfilled and alternatives apart.

An instruction with one argument states a preference; a second value for the same argument is an alternative and makes
a call of its own. An instruction with several arguments is a condition: "for Thai food go to Baan Thai" belongs to the
call whose cuisine is Thai, and where no call says a cuisine, to the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prefine_dspy.composition.facts import Fact
from prefine_dspy.composition.values import alike, wordier

Arguments = dict[str, str]
_ROUNDS = 3
"""One condition may fulfil another's: more links than this in a chain have not been seen."""


def branches(stated: Mapping[str, str], facts: Sequence[Fact]) -> list[Arguments]:
    """The arguments of each call, at least one.

    Args:
        stated: what the dialogue says; it wins over every instruction.
        facts: the instructions about this function.
    """
    preferences = [next(iter(fact.items())) for fact in facts if len(fact) == 1]
    conditions = [fact for fact in facts if len(fact) > 1]
    preferences = [(argument, values) for argument, values in preferences if argument not in stated]
    found = _alternatives(dict(stated), preferences)
    for _ in range(_ROUNDS):
        for condition in conditions:
            _fulfil(condition, found, stated)
    for argument, values in preferences:  # a preference without alternatives holds for all calls
        held = {one[argument].casefold(): one[argument] for one in found if argument in one}
        if len(values) == 1 and len(held) == 1:
            for one in found:
                one.setdefault(argument, next(iter(held.values())))
    return found


def _alternatives(stated: Arguments, preferences: Sequence[tuple[str, list[str]]]) -> list[Arguments]:
    found, common = [dict(stated)], dict(stated)
    for argument, values in preferences:
        held = [one[argument] for one in found if argument in one]
        new = [value for value in values if not any(alike(value, other) for other in held)]
        if not held and new:
            first, *new = new
            for one in found:
                one[argument] = first
            if len(values) == 1:
                common[argument] = first
        rest = {name: value for name, value in common.items() if name != argument}
        found += [{**rest, argument: value} for value in new]
    return found


def _fulfil(condition: Fact, found: Sequence[Arguments], stated: Mapping[str, str]) -> None:
    for one in found:
        for argument, values in condition.items():
            match = next((value for value in values if argument in one and alike(one[argument], value)), None)
            if match is not None:
                if argument not in stated:
                    one[argument] = wordier(one[argument], match)
                for other, others in condition.items():
                    one.setdefault(other, others[0])
                return
    if not any(argument in found[0] for argument in condition):
        found[0].update({argument: values[0] for argument, values in condition.items()})
