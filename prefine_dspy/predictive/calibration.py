"""What is chosen on data: the caller's threshold on dev, and how often users choose each value on train."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prefine_dspy.predictive.contrast import Considered
from prefine_dspy.predictive.observations import observations
from prefine_dspy.predictive.places import places
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, ToolCall


class ScoredArgument(NamedTuple):
    """An argument that a query leaves out, with its gold.

    Args:
        lift: of the likeliest value.
        right: the gold has this value.
        wanted: the gold has a value for it.
    """

    lift: float
    right: bool
    wanted: bool


class CurvePoint(NamedTuple):
    """What a threshold does.

    Args:
        threshold: arguments with at least this lift are filled in.
        coverage: share of the arguments that are, 0 to 1.
        accuracy: share of those that are right; 1 when none is.
        f1: over the arguments that the gold wants.
    """

    threshold: float
    coverage: float
    accuracy: float
    f1: float


def scored(considered: Iterable[Considered], gold: Sequence[ToolCall]) -> list[ScoredArgument]:
    """What a caller considered on account of hypotheses, against the alternative right calls."""
    right: dict[tuple[str, str], set[str]] = defaultdict(set)
    for call in gold:
        for function, argument, value in call.triplets():
            right[function, argument].add(value)
    found = []
    for one in considered:
        if one.because == "hypothesis":
            values = right.get((one.function, one.argument), set())
            found.append(ScoredArgument(one.lift, one.value in values, bool(values)))
    return found


def coverage_accuracy(arguments: Sequence[ScoredArgument]) -> list[CurvePoint]:
    """One point for every threshold that makes a difference, from filling in nothing to filling in all.

    Raises:
        ValueError: no arguments.
    """
    if not arguments:
        raise ValueError("a curve needs at least one argument")
    wanted = sum(one.wanted for one in arguments)
    ranked = sorted(arguments, key=lambda one: -one.lift)
    points = [CurvePoint(float("inf"), 0.0, 1.0, 0.0 if wanted else 1.0)]
    right = 0
    for number, one in enumerate(ranked, start=1):
        right += one.right
        if number < len(ranked) and ranked[number].lift == one.lift:
            continue
        f1 = 2 * right / (number + wanted)
        points.append(CurvePoint(one.lift, number / len(ranked), right / number, f1))
    return points


def choose_threshold(arguments: Sequence[ScoredArgument]) -> CurvePoint:
    """The point with the best F1, the fewest arguments filled in among equals; its threshold lies half-way to the next
    smaller lift, so that it does not hang on one example.

    Raises:
        ValueError: no arguments.
    """
    points = coverage_accuracy(arguments)
    at = max(range(len(points)), key=lambda number: (points[number].f1, -number))
    best = points[at]
    if at == 0:
        return best._replace(threshold=points[1].threshold + 1.0)
    below = points[at + 1].threshold if at + 1 < len(points) else 0.0
    return best._replace(threshold=(best.threshold + below) / 2)


def learn_priors(histories: Iterable[History], tools: Catalogue, least: int = 10) -> dict[str, dict[str, float]]:
    """How often users choose each value of an argument, by "Function.argument", for `Correction`.

    Args:
        histories: of the training data.
        tools: tell closed sets; values outside of them do not count.
        least: choices that an argument needs; rarer ones keep the LM's own expectation. One more choice is spread over
            all values, so that none is impossible.
    """
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for history in histories:
        for one in observations(history.sessions, tools):
            found[one.function, one.argument][one.value] += 1
    priors = {}
    for place in places(tools, found, {}):
        count = found[place.key]
        total = sum(count[value] for value in place.values)
        if place.kind in ("closed", "count") and total >= least:
            each = 1.0 / len(place.values)
            name = f"{place.function}.{place.argument}"
            priors[name] = {value: (count[value] + each) / (total + 1) for value in place.values}
    return priors
