"""What a history's annotation says, as the text of a hypothesis."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eval.data.catalogue import preference_slots
from eval.data.load import MINI
from eval.data.observations import evidence, recurring, stance_counts, value_counts
from eval.data.preferences import CELEBRITIES, Mapping, Stance
from prefine_dspy.types import ToolCall

# a hypothesis is one short sentence: more than two preferences, or more values of each, do not fit in it
MOST_STANCES = MOST_VALUES = 2
LONGEST = 200
BEGINNING = "The user prefers"
Triplet = tuple[str, str, str]


@cache
def phrases() -> dict[str, Any]:
    """The wording of each preference: `wants`, variants of the sentence's end; `words` that tell it was said; `show`,
    what a user with it is seen doing."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "phrases.json").read_text(encoding="utf-8"))
    return found


def mapping_of(data: str) -> Mapping:
    """Which arguments express which preference in a benchmark: the mini data has celebrities of its own."""
    file = (MINI if data == "mini" else Path(data)) / "manifest.json"
    stars = json.loads(file.read_text(encoding="utf-8")).get("stars") if file.is_file() else None
    return Mapping(stars or CELEBRITIES)


def leading(calls: Sequence[ToolCall], mapping: Mapping, least: int = 1) -> list[Stance]:
    """The stances that win their axis, at most two, in the order in which they showed first.

    Args:
        calls: executed so far.
        least: supporting observations that it takes.
    """
    found = {stance: evidence(calls, stance, mapping) for stance in stance_counts(calls, mapping)}
    winning = {stance: e for stance, e in found.items() if e.supporting >= least and e.supporting > e.competing}
    best = sorted(winning, key=lambda stance: -winning[stance].supporting)[:MOST_STANCES]
    return [stance for stance in winning if stance in best]


def habits(calls: Sequence[ToolCall], mapping: Mapping) -> list[Triplet]:
    """Values that recur at a preference argument and express none of the preferences, such as one airline."""
    slots = preference_slots()
    return [
        (function, argument, value)
        for (function, argument), value in recurring(value_counts(calls)).items()
        if argument in slots.get(function, ()) and mapping.label((function, argument, value)) is None
    ]


def hypothesis(
    calls: Sequence[ToolCall],
    mapping: Mapping,
    stances: Iterable[Stance] | None = None,
    first: Iterable[Triplet] = (),
    variant: int = 0,
) -> str:
    """One sentence about what recurs in some calls: the preferences in general words, then by name the values that
    occur twice or more. "" when there is nothing to say.

    Args:
        calls: executed so far.
        mapping: which arguments express which preference.
        stances: what to say; those that lead by default.
        first: values to name before others.
        variant: which wording, so that demonstrations do not all say the same.
    """
    chosen = leading(calls, mapping) if stances is None else list(stances)
    repeated = [(function, argument, value) for (function, argument), value in recurring(value_counts(calls)).items()]
    repeated = list(dict.fromkeys([*first, *repeated]))
    ends = []
    for stance in chosen:
        named = [value_words(one) for one in repeated if mapping.label(one) == stance and stance.star == ""]
        ends.append(_wants(stance, variant) + (f" ({', '.join(named[:MOST_VALUES])})" if named else ""))
    ends += [value_words(one) for one in dict.fromkeys([*first, *habits(calls, mapping)]) if not mapping.label(one)]
    said: list[str] = []
    for end in ends[: len(chosen) + MOST_VALUES]:
        if len(_sentence([*said, end])) <= LONGEST:
            said.append(end)
    return _sentence(said) if said else ""


def general(stance: Stance, variant: int = 0) -> str:
    """The sentence about one preference alone."""
    return _sentence([_wants(stance, variant)])


def value_words(triplet: Triplet) -> str:
    """One argument's value: `flights airlines Delta Airlines`."""
    function, argument, value = triplet
    thing = re.sub(r"(?<!^)(?=[A-Z])", " ", function.removeprefix("Get")).lower()
    words = argument.replace("_", " ")
    return f"{words} {value}" if words.startswith(thing) else f"{thing} {words} {value}"


def vague(variant: int) -> str:
    """A sentence that decides nothing."""
    ends = phrases()["vague"]
    return _sentence([str(ends[variant % len(ends)])])


def shown(stance: Stance) -> str:
    """What a user of that stance is seen doing: "saving money"."""
    return str(phrases()[stance.preference]["show"]).format(star=stance.star)


def mentions(text: str, stance: Stance) -> bool:
    """Whether a memory says something of the stance, by words that people use for it."""
    words = [word.format(star=stance.star) for word in phrases()[stance.preference]["words"]]
    return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE) for word in words)


def _wants(stance: Stance, variant: int) -> str:
    ends = phrases()[stance.preference]["wants"]
    return str(ends[variant % len(ends)]).format(star=stance.star)


def _sentence(ends: Sequence[str]) -> str:
    return f"{BEGINNING} {', and '.join(ends)}."
