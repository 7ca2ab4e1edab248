"""What an LM expects of users whom it knows nothing about, corrected.

A small LM may be sure of one value whoever asks. Then the likeliest value stays the same whatever a hypothesis adds; by
how much each value changes is what the hypothesis says. So the LM's own expectation is divided out, and how often users
choose each value put in its place, or the same for every value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from prefine_dspy.errors import InputError
from prefine_dspy.predictive.lift import Lift
from prefine_dspy.predictive.places import Place

Prior = Literal["uniform", "lm"]
Priors = Mapping[str, Mapping[str, float]]  # by "Function.argument", probability by value


class Correction(NamedTuple):
    """Args:
    prior: for arguments that no prior was learned for: "uniform", or "lm" for the LM's own expectation.
    learned: from training data (`calibration.learn_priors`).
    """

    prior: Prior = "uniform"
    learned: Priors = {}

    def of(self, place: Place, lift: Lift) -> Lift:
        """The lift as it would be from the corrected expectation. Places without a known set of values stay."""
        if place.kind not in ("closed", "count"):
            return lift
        learned = self.learned.get(f"{place.function}.{place.argument}")
        if learned:
            return lift.corrected(learned)
        return lift.corrected(dict.fromkeys(place.values, 1.0 / len(place.values))) if self.prior == "uniform" else lift


def correction(prior: str, learned: Priors | None) -> Correction:
    """The correction of a program's options.

    Raises:
        InputError: no such prior, or learned ones that are no probabilities.
    """
    if prior not in get_args(Prior):
        raise InputError(f"prior must be uniform or lm, not {prior!r}")
    for name, shares in (learned or {}).items():
        if not isinstance(shares, Mapping) or not all(
            isinstance(one, int | float) and 0 <= one <= 1 for one in shares.values()
        ):
            raise InputError(
                f'priors must hold a probability by value for each argument, {name!r} does not: {{"a": 0.5}}'
            )
    return Correction("uniform" if prior == "uniform" else "lm", dict(learned or {}))
