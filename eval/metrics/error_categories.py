"""What is wrong with a prediction, in the categories of TAPS's error analysis (figures 3 and 7), computed.

The paper's authors labelled 100 predictions a model by hand. Here every prediction is labelled by rules, so the shares
are not those of the paper, but any two programs can be compared over all items.

Every slot is explained once. In this order: the right value under another argument of the call; another value of the
same argument (a matter of format, or wrong); the right value in another call; and what then remains is missing or made
up. A value that stands in many calls by chance ("True", "?", "any") is no sign of a substitution.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from eval.metrics.nlsi_strict import Pair, pair_calls, parameter_of
from eval.metrics.nlsi_values import ANY, REQUESTED, plain, read, same
from eval.metrics.slots import Slot
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

Kind = Literal[
    "substitution",  # the right value under a wrong function or argument name
    "hallucinated_argument",  # an argument that nobody asked for
    "hallucinated_function",  # a call of a function that nobody asked for, or that does not exist
    "missing_argument",
    "missing_call",
    "value_format",  # a part of the right value, or the right value said differently
    "wrong_value",  # another value of the right argument (the paper has no word for it)
    "extra_call",  # one call too many of a right function (nor for this)
    "unreadable",  # the answer is no call at all
]
KINDS: tuple[Kind, ...] = get_args(Kind)

PAPER_CATEGORIES: dict[str, tuple[Kind, ...]] = {
    "semantic substitution": ("substitution",),
    "hallucination": ("hallucinated_argument", "hallucinated_function"),
    "value formatting": ("value_format",),
    "missing": ("missing_argument", "missing_call"),
}
"""The four categories of the paper (section 5), as sums of ours."""

_KindOf = Callable[[Slot, Slot], Kind | None]
_SAYS_NOTHING = {"true", "false", "yes", "no", ANY, REQUESTED, ""}
_SMALL_WORDS = {"the", "a", "an", "of", "in", "on", "at", "and", "to", "for"}


class Error(NamedTuple):
    """One error.

    Args:
        kind: its category.
        wanted: the gold slot, if there is one. A whole call that is missing is a slot without argument.
        given: the predicted slot, if there is one; likewise.
    """

    kind: Kind
    wanted: Slot | None = None
    given: Slot | None = None


def find_errors(
    gold: Sequence[ToolCall],
    predicted: Sequence[ToolCall],
    *,
    parse_failed: bool = False,
    catalogue: Catalogue | None = None,
) -> list[Error]:
    """Every error of a prediction; none if and only if it is an exact match.

    Args:
        catalogue: the tools. With it a function that does not exist is hallucinated even where its values are right,
            and a value is wrong rather than badly formatted when the schema lists it as another choice.
    """
    if parse_failed:
        return [Error("unreadable")]
    errors: list[Error] = []
    pairs, renamed = _with_renamed(pair_calls(gold, predicted, catalogue), catalogue)
    missed: list[Slot] = []
    spurious: list[Slot] = []
    for pair in pairs:
        if pair.gold and pair.predicted:
            left = _explain_pair(pair, catalogue, errors)
            missed += left[0]
            spurious += left[1]
    errors += renamed
    # the slots of calls without a partner can explain what stands in another call, and are no errors of their own
    donors = [slot for pair in pairs if not pair.predicted for slot in pair.missed]
    _explain_across(missed, donors, spurious, errors)
    errors += [Error("missing_argument", wanted=slot) for slot in missed if slot.argument]
    errors += [Error("hallucinated_argument", given=slot) for slot in spurious if slot.argument]
    wanted_names = {call.name for call in gold}
    for pair in pairs:
        if not pair.predicted and pair.gold:
            errors.append(Error("missing_call", wanted=Slot(pair.gold.name, "", "")))
        elif not pair.gold and pair.predicted:
            kind: Kind = "extra_call" if pair.predicted.name in wanted_names else "hallucinated_function"
            errors.append(Error(kind, given=Slot(pair.predicted.name, "", "")))
    return errors


def categories(
    gold: Sequence[ToolCall],
    predicted: Sequence[ToolCall],
    *,
    parse_failed: bool = False,
    catalogue: Catalogue | None = None,
) -> Counter[Kind]:
    """How often each kind of error is in a prediction; see `find_errors`."""
    return Counter(error.kind for error in find_errors(gold, predicted, parse_failed=parse_failed, catalogue=catalogue))


def _with_renamed(pairs: list[Pair], catalogue: Catalogue | None) -> tuple[list[Pair], list[Error]]:
    """Calls without a partner, paired across functions where they share a value: the function has the wrong name."""
    gold = [pair for pair in pairs if not pair.predicted]
    given = [pair for pair in pairs if not pair.gold]
    options = sorted(
        (
            (-shared, at, to)
            for at, wanted in enumerate(gold)
            for to, one in enumerate(given)
            if (shared := sum(any(_same_value(w, s) for s in one.spurious) for w in wanted.missed))
        ),
    )
    taken: set[int] = set()
    done: set[int] = set()
    out = [pair for pair in pairs if pair.gold and pair.predicted]
    errors: list[Error] = []
    for _, at, to in options:
        if at in done or to in taken:
            continue
        done.add(at)
        taken.add(to)
        wanted, predicted = gold[at].gold, given[to].predicted
        assert wanted and predicted
        known = catalogue is None or predicted.name in catalogue
        errors.append(
            Error(
                "substitution" if known else "hallucinated_function",
                Slot(wanted.name, "", ""),
                Slot(predicted.name, "", ""),
            )
        )
        # whatever the arguments of the other function are called: what counts is which values are there
        missed, spurious = list(gold[at].missed), list(given[to].spurious)
        for slot in gold[at].missed:
            if hit := next((s for s in spurious if _same_value(slot, s)), None):
                missed.remove(slot)
                spurious.remove(hit)
        out.append(Pair(wanted, predicted, (), tuple(missed), tuple(spurious)))
    out += [pair for at, pair in enumerate(gold) if at not in done]
    out += [pair for to, pair in enumerate(given) if to not in taken]
    return out, errors


def _explain_pair(pair: Pair, catalogue: Catalogue | None, errors: list[Error]) -> tuple[list[Slot], list[Slot]]:
    """Errors within one call; returns what they leave unexplained on either side."""
    missed, spurious = list(pair.missed), list(pair.spurious)
    _match(missed, spurious, errors, lambda w, s: "substitution" if _same_value(w, s) else None)
    _match(
        missed,
        spurious,
        errors,
        lambda w, s: _other_value(w, s, catalogue) if w.argument == s.argument and w.argument else None,
    )
    return missed, spurious


def _explain_across(missed: list[Slot], donors: list[Slot], spurious: list[Slot], errors: list[Error]) -> None:
    _match(missed, spurious, errors, lambda w, s: "substitution" if _same_value(w, s) else None)
    _match(donors, spurious, errors, lambda w, s: "substitution" if _same_value(w, s) else None)


def _match(missed: list[Slot], spurious: list[Slot], errors: list[Error], kind_of: _KindOf) -> None:
    """Takes out of both lists what explains each other, and notes the errors."""
    for wanted in list(missed):
        for given in spurious:
            kind = kind_of(wanted, given)
            if kind:
                errors.append(Error(kind, wanted, given))
                missed.remove(wanted)
                spurious.remove(given)
                break


def _same_value(wanted: Slot, given: Slot) -> bool:
    """The same telling value, whatever it is an argument of."""
    if wanted.value.casefold().strip() in _SAYS_NOTHING:
        return False
    return same(wanted.argument, wanted.value, given.value)


def _other_value(wanted: Slot, given: Slot, catalogue: Catalogue | None) -> Kind:
    """Whether another value of the right argument is the right one in another form, or a wrong one."""
    parameter = parameter_of(wanted, catalogue)
    choices = {choice.casefold() for choice in parameter.choices()} if parameter else set()
    if {wanted.value.casefold(), given.value.casefold()} <= choices:
        return "wrong_value"
    a, b = read(wanted.argument, wanted.value), read(given.argument, given.value)
    if any(getattr(a, reading) is not None and getattr(b, reading) is not None for reading in a._fields[1:]):
        return "wrong_value"  # both are clearly dates, times or numbers, and not the same
    if _overlap(_words(wanted), _words(given)):
        return "value_format"
    return "wrong_value"


def _words(slot: Slot) -> set[str]:
    return set(re.findall(r"\w+", plain(slot.argument, slot.value).casefold())) - _SMALL_WORDS


def _overlap(a: set[str], b: set[str]) -> bool:
    """One is part of the other, or they share at least half of their words: San Jose is no San Francisco."""
    shared = a & b
    return bool(shared) and (shared == a or shared == b or 2 * len(shared) >= len(a | b))


def relative_change(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float | None]:
    """By category, how much rarer (negative) or more frequent it became: -0.25 is a quarter fewer. None where it was
    never there before."""
    return {name: (after[name] - share) / share if share else None for name, share in before.items()}
