"""The chain rule over the tokens of all values: where they part, the LM is asked; where they do not, it need not be.

Economy          -> E|conomy|END
Premium Economy  -> Premium| Economy|END        one question, at the root
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

END = -1
"""Stands for every token that ends a value: the closing quotation mark, alone or with what follows it."""
NEGLIGIBLE = 1e-3
"""Values that together have less than this are not told apart: each would cost a question."""

Path = tuple[int, ...]


class NextTokens(NamedTuple):
    """What an LM would write next, unconstrained.

    Args:
        listed: probability by token, `END` among them.
        rest: what the tokens that were not listed have together.
        least: the smallest probability that was listed; no token that was not can have more.
    """

    listed: Mapping[int, float]
    rest: float
    least: float


class Measured(NamedTuple):
    """Args:
    mass: by value.
    missing: how much of it was not measured, but split evenly or bounded from above.
    coverage: how much of the LM's probability the values have; None when no question was needed.
    """

    mass: dict[str, float]
    missing: float
    coverage: float | None


def measure(paths: Mapping[str, Path], ask: Callable[[Path], NextTokens], everywhere: bool = False) -> Measured:
    """Probabilities of values from next-token questions.

    Args:
        paths: the tokens of each value; none is the beginning of another.
        ask: what comes after some tokens.
        everywhere: ask also where only one token may come, and do not share out what other tokens have: the result is
            each value's own probability. Otherwise it is that under a grammar which allows the values only.

    Returns:
        The mass by value; it sums to 1 unless `everywhere`.
    """
    mass: dict[str, float] = {}
    missing, coverage = 0.0, None
    todo: list[tuple[Path, list[str], float]] = [((), list(paths), 1.0)]
    while todo:
        prefix, members, here = todo.pop()
        depth = len(prefix)
        ended = [value for value in members if len(paths[value]) == depth]
        if ended:
            mass[ended[0]] = here
            continue
        children: dict[int, list[str]] = {}
        for value in members:
            children.setdefault(paths[value][depth], []).append(value)
        if here < NEGLIGIBLE:
            mass |= {value: here / len(members) for value in members}
            missing += here
            continue
        shares, unlisted = _shares(list(children), ask, prefix, everywhere)
        total = math.fsum(shares.values())
        if depth == 0 and not (len(children) == 1 and not everywhere):
            coverage = min(1.0, total)
        if not everywhere:
            shares = {token: share / total for token, share in shares.items()}
        missing += here * math.fsum(shares[token] for token in unlisted)
        todo += [((*prefix, token), values, here * shares[token]) for token, values in children.items()]
    return Measured(mass, missing, min(1.0, math.fsum(mass.values())) if everywhere else coverage)


def _shares(
    children: list[int], ask: Callable[[Path], NextTokens], prefix: Path, everywhere: bool
) -> tuple[dict[int, float], list[int]]:
    """The probability of each child, and which of them are only bounds."""
    if len(children) == 1 and not everywhere:
        return {children[0]: 1.0}, []
    after = ask(prefix)
    unlisted = [token for token in children if after.listed.get(token, 0.0) <= 0.0]
    bound = max(1e-12, min(after.least, after.rest / max(1, len(unlisted))))
    return {token: bound if token in unlisted else after.listed[token] for token in children}, unlisted
