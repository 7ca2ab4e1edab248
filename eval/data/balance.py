"""A balanced slice of a benchmark that needs few memories."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from eval.instance import Instance

# a history is worth this much more for each preference it brings that the slice still lacks
NEW_PREFERENCE = 1.3

Cell = tuple[str, str]


def balanced(
    instances: Sequence[Instance], limit: int, seed: int = 0, lengths: Mapping[str, int] | None = None
) -> list[Instance]:
    """A slice with the same number of each reasoning type and query type, over little history.

    Reading histories is what costs, so they are taken whole, one after the other: each time the one that fills most of
    the places left for its length, where a preference not yet there counts for more, and a contested one as long as the
    slice has a smaller share of contested instances than the whole. Deterministic; the order is that of `instances`.

    Args:
        instances: all of them.
        limit: how many to take; everything when there are not more.
        seed: decides between equally good histories.
        lengths: of each history, in any unit; without them all count as equally long.
    """
    if limit >= len(instances):
        return list(instances)
    by_history: dict[str, list[int]] = {}
    for k, instance in enumerate(instances):
        by_history.setdefault(instance.history_id, []).append(k)
    order = sorted(by_history)
    random.Random(seed).shuffle(order)
    contested_share = sum(i.contested for i in instances) / len(instances)
    places = _places(instances, limit)
    taken: list[int] = []
    while places.total() > 0:
        so_far = [instances[k] for k in taken]
        offers = {name: _fitting(instances, by_history[name], places) for name in order}
        lacking = sum(i.contested for i in so_far) < contested_share * len(so_far)
        wanted = [name for name in order if any(instances[k].contested for k in offers[name])] if lacking else []
        best = max(
            wanted or order,
            key=lambda name: _worth([instances[k] for k in offers[name]], so_far) / (lengths or {}).get(name, 1),
        )
        places.subtract(_cell(instances[k]) for k in offers[best])
        taken += offers[best]
        order.remove(best)
    return [instances[k] for k in sorted(taken)]


def _worth(offer: list[Instance], so_far: list[Instance]) -> float:
    known = {instance.preference for instance in so_far}
    return len(offer) * NEW_PREFERENCE ** len({instance.preference for instance in offer} - known)


def _cell(instance: Instance) -> Cell:
    return instance.reasoning_type, instance.query_type


def _places(instances: Sequence[Instance], limit: int) -> Counter[Cell]:
    """How many to take of each cell: dealt out one by one, so that a small cell gives what it has."""
    available = Counter(map(_cell, instances))
    places: Counter[Cell] = Counter()
    while places.total() < limit:
        for cell in sorted(available):
            if places.total() < limit and places[cell] < available[cell]:
                places[cell] += 1
    return places


def _fitting(instances: Sequence[Instance], offered: list[int], places: Counter[Cell]) -> list[int]:
    free = places.copy()
    fitting = []
    for k in offered:
        if free[_cell(instances[k])] > 0:
            free[_cell(instances[k])] -= 1
            fitting.append(k)
    return fitting
