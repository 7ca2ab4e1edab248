"""Corrupt a share of gold tags: drawn over the whole data set, reproducible, words untouched (TAPS section 5).

The order of drawing is one shuffle of all eligible tags by the seed, and what happens to a tag is drawn from the seed
and the tag alone. So with one seed, what is done at a share is the beginning of what is done at every larger one.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

from eval.corruption import moves
from eval.corruption.names import Nearest, nearest_names
from prefine_dspy.errors import InputError
from prefine_dspy.tagging import Span, Tagged
from prefine_dspy.tools import Catalogue

Strategy = Literal["all", "action", "slot_missing", "slot_boundary", "semantic_slot", "spurious_slot"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
_OF_SLOTS: tuple[Strategy, ...] = ("slot_missing", "slot_boundary", "semantic_slot")
SIMILAR = 3
"""A substitute is one of so many names that are most similar."""


class Applied(NamedTuple):
    """What was done to one tag.

    Args:
        text: the key of the sentence in the mapping that was given.
        action, slot: places of the tag in the gold `Tagged`; slot is None for an action (and a row, for spurious tags).
        kind: the corruption.
        before, after: the tag as `NAME words`; `before` is empty for an added tag, `after` for a dropped one.
        changed: False when the tag could not be changed in this way; then `after` equals `before`.
    """

    text: str
    action: int
    slot: int | None
    kind: Strategy
    before: str
    after: str
    changed: bool


class Corrupted(NamedTuple):
    """Corrupted tags.

    Args:
        tags: by the keys that were given, in their order.
        applied: in the order in which the tags were drawn.
        eligible: how many tags (rows, for spurious tags) the share is of.
    """

    tags: dict[str, Tagged]
    applied: tuple[Applied, ...]
    eligible: int


class _Eligible(NamedTuple):
    text: str
    action: int
    slot: int | None


def corrupt(
    tags: Mapping[str, Tagged],
    share: float,
    seed: int,
    strategy: Strategy = "all",
    *,
    tools: Catalogue | None = None,
    nearest: Nearest = nearest_names,
) -> Corrupted:
    """Corrupt the floor of `share` of all eligible tags.

    Eligible are, for "all", every action and slot; for "action" the actions; for "spurious_slot" the rows; else the
    slots. With "all", a drawn action gets another function that occurs in the tags, a drawn slot one of deletion,
    boundary shift and substitution, equally likely. A slot is substituted by one of the three names most similar among
    all others of all functions.

    Args:
        tags: gold tags by sentence.
        share: 0 to 1.
        seed: the same seed gives the same tags in every process.
        strategy: the published study's names.
        tools: where the names of slots come from; without it from the tags.
        nearest: how similar names are found, by letters by default.

    Raises:
        InputError: the share is not between 0 and 1, or there is no such strategy.
    """
    if not 0 <= share <= 1:
        raise InputError(f"a share of corrupted tags must be between 0 and 1, not {share!r}")
    if strategy not in STRATEGIES:
        raise InputError(f"no corruption {strategy!r}: choose one of {', '.join(STRATEGIES)}")
    eligible = _eligible(tags, strategy)
    drawn = random.Random(f"{seed}:{strategy}")
    drawn.shuffle(eligible)
    # 0.29 * 100 is 28.999999999999996; shares are meant as decimal fractions
    count = int(Fraction(share).limit_denominator(10_000) * len(eligible))
    run = _Run(tags, seed, strategy, _Names(tags, tools, nearest))
    applied = tuple(run.apply(one) for one in eligible[:count])
    return Corrupted(dict(run.tags), applied, len(eligible))


def _eligible(tags: Mapping[str, Tagged], strategy: Strategy) -> list[_Eligible]:
    found = []
    for text in sorted(tags):
        if strategy == "spurious_slot":
            found.append(_Eligible(text, 0, None))
            continue
        for at, action in enumerate(tags[text].actions):
            if strategy in ("all", "action"):
                found.append(_Eligible(text, at, None))
            if strategy != "action":
                found += [_Eligible(text, at, number) for number in range(len(action.slots))]
    return found


class _Names:
    """The names that substitutes are taken from."""

    def __init__(self, tags: Mapping[str, Tagged], tools: Catalogue | None, nearest: Nearest) -> None:
        actions = [action for tagged in tags.values() for action in tagged.actions]
        self.functions = sorted({action.name for action in actions})
        by_function: dict[str, set[str]] = {name: set() for name in self.functions}
        for action in actions:
            by_function[action.name] |= {slot.name for slot in action.slots}
        for tool in tools or ():
            by_function.setdefault(tool.name, set()).update(parameter.name for parameter in tool.parameters)
        self.by_function = {name: sorted(slots) for name, slots in by_function.items()}
        self.slots = sorted({slot for slots in self.by_function.values() for slot in slots})
        self.nearest = nearest

    def like(self, slot: str) -> Sequence[str]:
        return self.nearest(slot, [name for name in self.slots if name != slot], SIMILAR)

    def for_words(self, function: str, words: str) -> Sequence[str]:
        return self.nearest(words, self.by_function.get(function, []), SIMILAR)


class _Run:
    """The tags while they are being corrupted."""

    def __init__(self, gold: Mapping[str, Tagged], seed: int, strategy: Strategy, names: _Names) -> None:
        self.gold = gold
        self.tags = dict(gold)
        self.seed = seed
        self.strategy = strategy
        self.names = names

    def apply(self, one: _Eligible) -> Applied:
        rng = random.Random(f"{self.seed}:{self.strategy}:{one.text}:{one.action}:{one.slot}")
        kind = self._kind(one, rng)
        tagged = self.tags[one.text]
        # every tag is drawn once, so a slot is still the gold one when its turn comes
        slot = None if one.slot is None else self.gold[one.text].actions[one.action].slots[one.slot]
        found = self._changed(kind, tagged, one.action, slot, rng)
        self.tags[one.text] = found or tagged
        before, after = _difference(tagged, found or tagged, one.action, slot)
        return Applied(one.text, one.action, one.slot, kind, before, after, found is not None)

    def _kind(self, one: _Eligible, rng: random.Random) -> Strategy:
        if self.strategy != "all":
            return self.strategy
        return "action" if one.slot is None else rng.choice(_OF_SLOTS)

    def _changed(
        self, kind: Strategy, tagged: Tagged, action: int, slot: Span | None, rng: random.Random
    ) -> Tagged | None:
        if kind == "spurious_slot":
            return moves.add_slot(tagged, lambda words: self.names.for_words(tagged.actions[0].name, words), rng)
        if slot is None:
            return moves.rename_action(tagged, action, self.names.functions, rng)
        if kind == "slot_missing":
            return moves.drop_slot(tagged, action, slot)
        if kind == "slot_boundary":
            return moves.shift_slot(tagged, action, slot, rng)
        return moves.rename_slot(tagged, action, slot, self.names.like(slot.name), rng)


def _difference(before: Tagged, after: Tagged, action: int, slot: Span | None) -> tuple[str, str]:
    """The tag as it was and as it is."""
    if not before.actions:
        return "", ""
    old, new = before.actions[action], after.actions[action]
    if slot is None and old.name != new.name:
        return old.name, new.name
    gone = [one for one in old.slots if one not in new.slots]
    come = [one for one in new.slots if one not in old.slots]
    if not gone and not come:
        same = old.name if slot is None else _text(before, slot)
        return same, same
    return " ".join(_text(before, one) for one in gone), " ".join(_text(after, one) for one in come)


def _text(tagged: Tagged, slot: Span) -> str:
    return f"{slot.name} {tagged.words(slot)}"
