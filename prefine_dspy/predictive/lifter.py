"""Lifts of several texts at several places, measured in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import dspy

from prefine_dspy.errors import InputError
from prefine_dspy.lm.values import ValueDistribution, value_distributions
from prefine_dspy.lm.values.ask import Asked
from prefine_dspy.predictive.correction import Correction
from prefine_dspy.predictive.lift import Lift, with_other
from prefine_dspy.predictive.places import COUNT_COVERAGE, Key, Place


class Lifts(NamedTuple):
    """Args:
    by_text: for each text its lifts by (function, argument). A place where a text cannot say anything is absent.
    asked: what measuring took; what was known from before is free.
    """

    by_text: dict[str, dict[Key, Lift]]
    asked: Asked


def measure_lifts(texts: Sequence[str], places: Sequence[Place], correction: Correction | None = None) -> Lifts:
    """The lift of each text at each place, under the LM of DSPy's settings.

    Args:
        texts: hypotheses; empty ones have no lifts.
        places: arguments.
        correction: of the LM's expectations; None takes the uniform prior.

    Raises:
        InputError: no LM is set.
    """
    lm = dspy.settings.lm
    if lm is None:
        raise InputError("no LM is set: use `with dspy.context(lm=resolve('local')):`")
    texts = [one for one in dict.fromkeys(texts) if one.strip()]
    if not texts:
        return Lifts({}, Asked())
    predictable, counted = _predictable(lm, places)
    wanted = [(text, named) for text in texts for one in predictable if (named := one.named_in(text)) is not None]
    nulls, for_nulls = value_distributions(lm, [named.question("") for _, named in wanted])
    given, for_given = value_distributions(lm, [named.question(text) for text, named in wanted])
    found: dict[str, dict[Key, Lift]] = {text: {} for text in texts}
    for (text, named), with_text, without in zip(wanted, given, nulls, strict=True):
        lift = Lift(_whole(named, with_text), _whole(named, without))
        found[text][named.key] = (correction or Correction()).of(named, lift)
    return Lifts(found, counted + for_nulls + for_given)


def _whole(place: Place, distribution: ValueDistribution) -> ValueDistribution:
    return with_other(distribution) if place.kind in ("single", "open") else distribution


def _predictable(lm: dspy.BaseLM, places: Sequence[Place]) -> tuple[list[Place], Asked]:
    """The places without those that were taken for counts and are not: asked once, as no text is shown."""
    counts = [one for one in places if one.kind == "count"]
    found, asked = value_distributions(lm, [one.question("", measure_all=True) for one in counts])
    # an LM that does not measure how much its values cover is asked to believe that they do
    no_counts = {
        one.key
        for one, distribution in zip(counts, found, strict=True)
        if distribution.coverage is not None and distribution.coverage < COUNT_COVERAGE
    }
    return [one for one in places if one.key not in no_counts], asked
