"""ValueDistribution: a probability for each value that an argument may have, and how it was come by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

How = Literal["exact", "logprobs", "samples"]


@dataclass(frozen=True)
class ValueDistribution:
    """What an LM would write at one place, held to the values that may stand there.

    Args:
        values: the allowed ones, as text.
        probabilities: of the values, in the same order; they sum to 1.
        how: "exact", token by token over all values; "logprobs", from the alternatives that were listed with one
            answer; "samples", from the share of answers.
        missing_mass: the part of the 1 that was not measured: split evenly or bounded from above, in [0, 1].
        coverage: the probability that the LM left alone would write one of these values, in [0, 1]; None when it was
            not measured. Open arguments are judged by it: their values are some of many.
    """

    values: tuple[str, ...]
    probabilities: tuple[float, ...]
    how: How
    missing_mass: float = 0.0
    coverage: float | None = None

    def of(self, value: str) -> float:
        """The probability of a value; 0 for one that is not among them."""
        return self.probabilities[self.values.index(value)] if value in self.values else 0.0

    @property
    def best(self) -> str:
        """The likeliest value, the first of equals."""
        return self.values[max(range(len(self.values)), key=self.probabilities.__getitem__)]

    @property
    def entropy(self) -> float:
        """In nats."""
        return -math.fsum(p * math.log(p) for p in self.probabilities if p > 0)
