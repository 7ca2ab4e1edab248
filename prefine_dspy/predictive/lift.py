"""How much a text moves what an LM would write at one place, against what it would write knowing nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from prefine_dspy.errors import InputError
from prefine_dspy.lm.values import ValueDistribution

Measure = Literal["kl", "relative_kl", "log_odds"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
OTHER = ""
"""Stands for all values that were not asked about."""
FLOOR = 1e-6
"""The least probability that a ratio is taken of."""
SMOOTHING = 1e-3
"""Added to both sides of the ratios that a correction rests on: those of improbable values are noise."""


class Lift(NamedTuple):
    """Two distributions over the same values.

    Args:
        given: with the text.
        null: without it.
    """

    given: ValueDistribution
    null: ValueDistribution

    @property
    def best(self) -> str:
        """The likeliest value with the text; `OTHER` when it is none of those asked about."""
        return self.given.best

    @property
    def up(self) -> bool:
        """Whether the text makes the likeliest value likelier."""
        return self.best != OTHER and self.given.of(self.best) > self.null.of(self.best)

    def log_ratio(self, value: str) -> float | None:
        """By how much (nats) the text makes a value likelier; None if the value was not asked about."""
        at = value if value in self.given.values else OTHER
        if at not in self.given.values:
            return None
        return _log(self.given.of(at)) - _log(self.null.of(at))

    def by(self, measure: Measure) -> float:
        """The size of the move, at least 0.

        - kl: the divergence of the null from the given distribution, in nats.
        - relative_kl: that in units of the null's entropy, so that an argument with many values needs no more than one
          with two.
        - log_odds: by how much the odds of the likeliest value grow, in nats.
        """
        if measure == "log_odds":
            return max(0.0, _logit(self.given.of(self.best)) - _logit(self.null.of(self.best)))
        pairs = zip(self.given.probabilities, self.null.probabilities, strict=True)
        kl = max(0.0, math.fsum(p * (_log(p) - _log(q)) for p, q in pairs if p > 0))
        return kl if measure == "kl" else kl / max(self.null.entropy, 0.1)

    def corrected(self, prior: Mapping[str, float]) -> Lift:
        """The same move from another starting point: what users choose, in place of what the LM expects of them.

        Args:
            prior: probability by value; values that it lacks keep the LM's.
        """
        wanted = _normal([max(FLOOR, prior.get(one, self.null.of(one))) for one in self.null.values])
        weights = [
            q * (p + SMOOTHING) / (n + SMOOTHING)
            for p, q, n in zip(self.given.probabilities, wanted, self.null.probabilities, strict=True)
        ]
        return Lift(
            ValueDistribution(self.given.values, _normal(weights), self.given.how, self.given.missing_mass),
            ValueDistribution(self.null.values, wanted, self.null.how, self.null.missing_mass),
        )


class LiftRule(BaseModel):
    """From which size on a move counts.

    Args:
        measure: of the size; see `Lift.by`.
        threshold: at least this. Chosen on dev (`calibration.choose_threshold`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: Measure = "kl"
    threshold: float = 0.08

    def moves(self, lift: Lift) -> bool:
        """Whether the text says something about this argument."""
        return lift.by(self.measure) >= self.threshold


def lift_rule(measure: str, threshold: float) -> LiftRule:
    """The rule of a program's options.

    Raises:
        InputError: no such measure, or a threshold that is no number from 0 on.
    """
    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}")
    try:
        rule = LiftRule.model_validate({"measure": measure, "threshold": threshold})
    except ValidationError:
        rule = None
    if rule is None or isinstance(threshold, bool) or not rule.threshold >= 0:  # NaN is not
        raise InputError(f"a threshold of lifts must be a number from 0 on, e.g. 0.08, not {threshold!r}")
    return rule


def with_other(distribution: ValueDistribution) -> ValueDistribution:
    """The values' own probabilities, and `OTHER` for the rest, from a distribution whose coverage was measured."""
    coverage = 1.0 if distribution.coverage is None else distribution.coverage
    shares = tuple(coverage * p for p in distribution.probabilities)
    return ValueDistribution(
        (*distribution.values, OTHER),
        (*shares, max(0.0, 1.0 - math.fsum(shares))),
        distribution.how,
        distribution.missing_mass,
        coverage,
    )


def _log(probability: float) -> float:
    return math.log(max(FLOOR, probability))


def _logit(probability: float) -> float:
    return _log(probability) - _log(1.0 - probability)


def _normal(weights: list[float]) -> tuple[float, ...]:
    total = math.fsum(weights)
    return tuple(one / total for one in weights)
