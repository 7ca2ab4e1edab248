"""Demonstrations by predictor, and a seeded choice that keeps their kinds in balance.

Small models copy: a generator whose first demonstration is about prices answers about prices, a verifier that sees
acceptances accepts. So each demonstration says what kind it is, and a choice deals the places out over the kinds.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dspy

from prefine_dspy.errors import PrefineError


class Labelled(NamedTuple):
    """One demonstration.

    Args:
        demo: values for every field of the predictor's signature.
        kind: from coarse to fine, e.g. ("reject", "over-specific", "eco"); places are dealt out level by level.
        covers: what a choice should show at least once whatever the kinds, e.g. functions; within the coarsest kind
            those are taken that show what was shown least. Then finer kinds are not looked at.
    """

    demo: dspy.Example
    kind: tuple[str, ...]
    covers: tuple[str, ...] = ()


Pools = Mapping[str, Sequence[Labelled]]


class EmptyDemonstrationsError(PrefineError):
    """A predictor of a compiled program got no demonstration."""


def choose(pool: Sequence[Labelled], k: int, seed: int, first: Sequence[Labelled] = ()) -> list[dspy.Example]:
    """At most `k` demonstrations, as many of each kind as possible, in a shuffled order.

    Deterministic for a seed; another seed gives another choice.

    Args:
        pool: to choose from.
        k: how many.
        seed: of the choice.
        first: taken before those of the pool, at the places of their coarsest kind.
    """
    rng = random.Random(seed)
    places = _places([*first, *pool], k, 0, rng)
    chosen: list[Labelled] = []
    covering = any(one.covers for one in pool)
    shown: Counter[str] = Counter()
    for kind, n in _narrow_first(places, pool) if covering else places.items():
        preferred = _deal([one for one in first if one.kind[0] == kind], n, 1, rng)
        shown.update(name for one in preferred for name in one.covers)
        rest = [one for one in pool if one.kind[0] == kind]
        left = n - len(preferred)
        chosen += preferred + (_cover(rest, left, shown, rng) if covering else _deal(rest, left, 1, rng))
    rng.shuffle(chosen)
    return [one.demo for one in chosen]


def _deal(pool: list[Labelled], k: int, level: int, rng: random.Random) -> list[Labelled]:
    if k <= 0 or not pool:
        return []
    if level >= max(len(one.kind) for one in pool):
        return rng.sample(pool, min(k, len(pool)))
    chosen: list[Labelled] = []
    for kind, n in _places(pool, k, level, rng).items():
        chosen += _deal([one for one in pool if _kind(one, level) == kind], n, level + 1, rng)
    return chosen


def _narrow_first(places: Mapping[str, int], pool: Sequence[Labelled]) -> list[tuple[str, int]]:
    """Kinds with their places; those that can show most come last, to fill the gaps of the others."""
    width = {kind: len({name for one in pool if one.kind[0] == kind for name in one.covers}) for kind in places}
    return sorted(places.items(), key=lambda item: width[item[0]])


def _cover(pool: list[Labelled], k: int, shown: Counter[str], rng: random.Random) -> list[Labelled]:
    """`k` of the pool, each time one that shows what was shown least; `shown` is counted on."""
    left = rng.sample(pool, len(pool))
    chosen: list[Labelled] = []
    while left and len(chosen) < k:
        best = min(left, key=lambda one: min((shown[name] for name in one.covers), default=0))
        left.remove(best)
        chosen.append(best)
        shown.update(best.covers)
    return chosen


def _places(pool: Sequence[Labelled], k: int, level: int, rng: random.Random) -> dict[str, int]:
    """How many of each kind: dealt out one by one in a shuffled order, so that a rare kind gives what it has."""
    available: dict[str, int] = defaultdict(int)
    for one in pool:
        available[_kind(one, level)] += 1
    names = sorted(available)
    rng.shuffle(names)
    places = dict.fromkeys(names, 0)
    while sum(places.values()) < min(k, len(pool)):
        for name in names:
            if sum(places.values()) < k and places[name] < available[name]:
                places[name] += 1
    return places


def _kind(one: Labelled, level: int) -> str:
    return one.kind[level] if level < len(one.kind) else ""


def give(program: dspy.Module, demos: Mapping[str, Sequence[dspy.Example]]) -> dspy.Module:
    """A copy of the program whose predictors have these demonstrations, those not named none."""
    copy: dspy.Module = program.deepcopy()
    for name, predictor in copy.named_predictors():
        predictor.demos = list(demos.get(name, ()))
    return copy


def fill_empty(program: dspy.Module, pools: Pools, k: int, seed: int) -> dspy.Module:
    """A copy in which predictors without a demonstration have labelled ones."""
    copy: dspy.Module = program.deepcopy()
    for name, predictor in copy.named_predictors():
        if not predictor.demos:
            predictor.demos = choose(pools.get(name, ()), k, seed)
    return copy


def check_all_have_demonstrations(program: dspy.Module) -> None:
    """Every predictor has a demonstration with all of its fields.

    Raises:
        EmptyDemonstrationsError: names those that do not.
    """
    empty = [
        name
        for name, predictor in program.named_predictors()
        if not any(all(demo.get(field) is not None for field in predictor.signature.fields) for demo in predictor.demos)
    ]
    if empty:
        raise EmptyDemonstrationsError(
            f"no demonstration reached {', '.join(empty)}: give more examples to train on, or another --optimizer"
        )


def check_one_has_demonstrations(program: dspy.Module) -> None:
    """At least one predictor has a demonstration.

    Raises:
        EmptyDemonstrationsError: none has.
    """
    names = [name for name, _ in program.named_predictors()]
    if not any(predictor.demos for _, predictor in program.named_predictors()):
        raise EmptyDemonstrationsError(
            f"no demonstration reached {', '.join(names)}: no run was good enough to show; lower --threshold, give "
            "more examples to train on, or another --optimizer"
        )
