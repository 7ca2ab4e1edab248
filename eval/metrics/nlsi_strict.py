"""The strict NLSI scorer: (function, argument, value) triplets, counted call by call.

It differs from the published evaluator (`eval.metrics.nlsi_reference`) where that one is an accident of its parser or
looks at the gold to forgive:
- calls are paired one to one, so that values swapped between two calls of a function are errors, and so are doubled,
  merged and split calls: exact match always includes the length rule;
- a gold "any" is a value that can be matched, and "?" is no city;
- dates and times must say the same (`eval.metrics.nlsi_values`), places may be named differently, but only where an
  argument holds a place; punctuation does not vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eval.metrics.nlsi_score import NOTHING_RIGHT, NlsiScore, harmonic_mean
from eval.metrics.nlsi_values import same
from eval.metrics.slots import Slot
from prefine_dspy.parsing import parse_calls
from prefine_dspy.tools import Catalogue, Parameter
from prefine_dspy.types import ToolCall


class Pair(NamedTuple):
    """A gold call beside the predicted call that answers it; one of them is None where there is no partner.

    Args:
        right: gold slots that the prediction has.
        missed: gold slots that it lacks.
        spurious: predicted slots that are not wanted.
    """

    gold: ToolCall | None
    predicted: ToolCall | None
    right: tuple[Slot, ...] = ()
    missed: tuple[Slot, ...] = ()
    spurious: tuple[Slot, ...] = ()

    @property
    def exact(self) -> bool:
        return self.gold is not None and self.predicted is not None and not self.missed and not self.spurious


def gold_calls(gold: Sequence[str | ToolCall]) -> list[ToolCall]:
    """Gold call strings as calls. One that cannot be read stays a call that no prediction matches."""
    calls: list[ToolCall] = []
    for one in gold:
        if isinstance(one, ToolCall):
            calls.append(one)
        else:
            calls += parse_calls(one).calls or [ToolCall(name=one)]
    return calls


def pair_calls(
    gold: Sequence[ToolCall], predicted: Sequence[ToolCall], catalogue: Catalogue | None = None
) -> list[Pair]:
    """Pair calls of the same function, best fit first (most right slots, fewest errors, earliest).

    If every gold call has an exact partner, this finds it: the largest fit is then always an exact one.

    Returns:
        One pair a gold call in gold order, then the predicted calls without a partner.
    """
    options = [
        (compared, at, to)
        for at, wanted in enumerate(gold)
        for to, given in enumerate(predicted)
        if wanted.name == given.name
        for compared in [_compare(wanted, given, catalogue)]
    ]
    options.sort(key=lambda option: (-len(option[0].right), len(option[0].missed) + len(option[0].spurious)))
    partner: dict[int, Pair] = {}
    taken: set[int] = set()
    for compared, at, to in options:
        if at not in partner and to not in taken:
            partner[at] = compared
            taken.add(to)
    alone = [Pair(None, call, spurious=slots_of(call)) for to, call in enumerate(predicted) if to not in taken]
    return [partner.get(at) or Pair(call, None, missed=slots_of(call)) for at, call in enumerate(gold)] + alone


def slots_of(call: ToolCall) -> tuple[Slot, ...]:
    """The filled arguments of a call. A call without any counts as one slot, so that its function still matters."""
    return tuple(Slot(*triplet) for triplet in call.triplets()) or (Slot(call.name, "", ""),)


def _compare(gold: ToolCall, predicted: ToolCall, catalogue: Catalogue | None) -> Pair:
    right: list[Slot] = []
    missed: list[Slot] = []
    left = list(slots_of(predicted))
    for wanted in slots_of(gold):
        parameter = parameter_of(wanted, catalogue)
        hit = next(
            (s for s in left if s.argument == wanted.argument and same(s.argument, wanted.value, s.value, parameter)),
            None,
        )
        if hit is None:
            missed.append(wanted)
        else:
            left.remove(hit)
            right.append(wanted)
    return Pair(gold, predicted, tuple(right), tuple(missed), tuple(left))


def parameter_of(slot: Slot, catalogue: Catalogue | None) -> Parameter | None:
    """The argument's schema, where there is one."""
    tool = catalogue.get(slot.function) if catalogue else None
    return tool.parameter(slot.argument) if tool else None


def score_calls(
    gold: Sequence[str | ToolCall],
    predicted: Sequence[ToolCall],
    *,
    parse_failed: bool = False,
    catalogue: Catalogue | None = None,
) -> NlsiScore:
    """Score one instance.

    Args:
        gold: calls, or call strings as published; none means that nothing should be called.
        predicted: the calls that were made.
        parse_failed: the answer could not be read, which scores 0.
        catalogue: the tools, for the types of arguments; without it values are read by how they are written.
    """
    if parse_failed:
        return NOTHING_RIGHT
    pairs = pair_calls(gold_calls(gold), predicted, catalogue)
    if not pairs:
        return NlsiScore(1.0, 1.0, 1.0, 1.0, 1.0)
    right = sum(len(pair.right) for pair in pairs)
    wanted = right + sum(len(pair.missed) for pair in pairs)
    given = right + sum(len(pair.spurious) for pair in pairs)
    if not right:
        return NOTHING_RIGHT
    precision, recall = right / given, right / wanted
    em = float(all(pair.exact for pair in pairs))
    return NlsiScore(em, em, harmonic_mean(precision, recall), precision, recall)


def score_answer(gold: Sequence[str | ToolCall], answer: object, catalogue: Catalogue | None = None) -> NlsiScore:
    """Score a recorded answer, which is read tolerantly but not corrected: what it says, counts."""
    parsed = parse_calls(answer)
    return score_calls(gold, parsed.calls, parse_failed=parsed.parse_failed, catalogue=catalogue)
