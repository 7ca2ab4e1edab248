"""Demonstrations by predictor, and a seeded choice that keeps their kinds in balance.

Small models copy: a generator whose first demonstration is about prices answers about prices, a verifier that sees
acceptances accepts. So each demonstration says what kind it is, and a choice deals the places out over the kinds.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dspy

from prefine_dspy.errors import PrefineError


class Labelled(NamedTuple):
    """One demonstration.

    Args:
        demo: values for every field of the predictor's signature.
        kind: from coarse to fine, e.g. ("reject", "over-specific", "eco"); places are dealt out level by level.
    """

    demo: dspy.Example
    kind: tuple[str, ...]


Pools = Mapping[str, Sequence[Labelled]]


class EmptyDemonstrationsError(PrefineError):
    """A predictor of a compiled program got no demonstration."""


def choose(pool: Sequence[Labelled], k: int, seed: int) -> list[dspy.Example]:
    """At most `k` demonstrations, as many of each kind as possible, in a shuffled order.

    Deterministic for a seed; another seed gives another choice.
    """
    rng = random.Random(seed)
    chosen = _deal(list(pool), k, 0, rng)
    rng.shuffle(chosen)
    return [one.demo for one in chosen]


def _deal(pool: list[Labelled], k: int, level: int, rng: random.Random) -> list[Labelled]:
    if k <= 0 or not pool:
        return []
    kinds: dict[str, list[Labelled]] = defaultdict(list)
    for one in pool:
        kinds[one.kind[level] if level < len(one.kind) else ""].append(one)
    if len(kinds) == 1 and level >= max(len(one.kind) for one in pool):
        return rng.sample(pool, min(k, len(pool)))
    names = sorted(kinds)
    rng.shuffle(names)
    places = dict.fromkeys(names, 0)
    while sum(places.values()) < min(k, len(pool)):
        for name in names:
            if sum(places.values()) < k and places[name] < len(kinds[name]):
                places[name] += 1
    return [one for name in names for one in _deal(kinds[name], places[name], level + 1, rng)]


def give(program: dspy.Module, demos: Mapping[str, Sequence[dspy.Example]]) -> dspy.Module:
    """A copy of the program whose predictors have these demonstrations, those not named none."""
    copy = program.deepcopy()
    for name, predictor in copy.named_predictors():
        predictor.demos = list(demos.get(name, ()))
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
            f"no demonstration reached {', '.join(empty)}: give more --train-histories, or --optimizer labeled"
        )
