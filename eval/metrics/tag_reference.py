"""The call-level tag scorer that TAPS published, with its parser's oddities. Written anew from a description.

It turns tagged text (bracket form only) into calls and compares (function, slot, value) triplets. It is not the scorer
of the paper's tagger table, which is a token classification that was never published (see `eval.metrics.tag_metrics`).

Kept oddities: with several actions, the walk ends at the first bracket that closes one, and what is open then is the
answer; a bracket closes an action only at the start of a word; `[SL: X` moves the name into the value; a call without
slots, or a value with "=", cannot be scored at all; nothing against nothing is an exact match of F1 0; exact match
compares lists and F1 compares sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eval.metrics.nlsi_score import harmonic_mean

TagSlots = list[tuple[str, str]]


class TaggedCall(NamedTuple):
    """An action of the tagged text as a call: its function, and (slot, value) in order."""

    function: str
    slots: TagSlots

    def __str__(self) -> str:
        inside = ", ".join(f'{slot}="{value}"' for slot, value in self.slots)
        return f"{self.function}({inside})"


class Unscorable(ValueError):
    """The published scorer raises for this pair: a call without slots, or a "=" where it expects none."""


# ------------------------------------------------------------------------------------------------------- tags to calls

_MARK = "\0"
"""Stands for a slot while the words are walked through."""


def tagged_calls(text: str) -> list[TaggedCall]:
    """The calls of a tagged text, in the order in which the published parser gives them back."""
    marked, spans = _without_slots(text.replace(_MARK, ""))
    if text.count("[IN:") == 1:
        name = text.partition("[IN:")[2].split(maxsplit=1)
        return [TaggedCall(_function(name[0] if name else ""), [_slot(span) for span in spans])]
    slots = map(_slot, spans)
    open_calls: list[TaggedCall] = []
    for word in marked.split():
        if word.startswith("[IN:"):
            open_calls.append(TaggedCall(_function(word.removeprefix("[IN:")), []))
        found = [next(slots) for _ in range(word.count(_MARK))]
        if open_calls:
            open_calls[-1].slots.extend(found)
        if word.startswith("]") and open_calls:
            return open_calls[::-1]
    return []


def _without_slots(text: str) -> tuple[str, list[str]]:
    """The text with a mark in place of each `[SL:...]` (the shortest on one line), and what stood there."""
    parts: list[str] = []
    spans: list[str] = []
    *closed, rest = text.split("]")
    for segment in closed:
        at = segment.find("[SL:", segment.rfind("\n") + 1)
        if at >= 0:
            spans.append(f"{segment[at:]}]")
        parts.append(f"{segment[:at]}{_MARK}" if at >= 0 else f"{segment}]")
    return "".join([*parts, rest]), spans


def _function(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


def _slot(span: str) -> tuple[str, str]:
    """The name is the first word after the colon; the value is what follows the first blank of the whole span."""
    words = span.removeprefix("[SL:").split(maxsplit=1)
    value = span.partition(" ")[2].removesuffix("]")
    return (words[0].lower() if words else "", value.strip().strip('"'))


# -------------------------------------------------------------------------------------------------------------- scores

_ONE_NAME = {"event_type": "category", "subcategory": "category"}
_VS = re.compile(r"\bvs\b")
Triplet = tuple[str, str, str]
Parts = tuple[str, ...]


def score_tags(gold: str, predicted: str) -> dict[str, float]:
    """Score one pair under the names that the published scorer gives to its figures.

    Returns:
        `em f1 precision recall` over triplets, the same over functions (`func_`), (function, slot) (`slot_`) and
        (function, value) (`val_`); whether there are more (`overgeneration_percent`) or fewer
        (`undergeneration_percent`) calls than in the gold, and how many on either side.

    Raises:
        Unscorable: the published scorer raises an error. Its figures leave such pairs out.
    """
    wanted, given = tagged_calls(gold), tagged_calls(predicted)
    wanted_triplets, given_triplets = _triplets(wanted), _triplets(given)
    figures = _figures("", wanted_triplets, given_triplets)
    figures |= _figures("func_", _functions(wanted), _functions(given))
    figures |= _figures("slot_", _parts(wanted_triplets, 1), _parts(given_triplets, 1))
    figures |= _figures("val_", _parts(wanted_triplets, 2), _parts(given_triplets, 2))
    return figures | {
        "unfinished": 0.0,  # calls that were cut off: calls made from tags never are
        "overgeneration_percent": float(len(given) > len(wanted)),
        "undergeneration_percent": float(len(given) < len(wanted)),
        "avg_num_calls_pred": float(len(given)),
        "avg_num_calls_target": float(len(wanted)),
    }


def _triplets(calls: Iterable[TaggedCall]) -> list[Triplet]:
    triplets: list[Triplet] = []
    for call in calls:
        if not call.slots:
            raise Unscorable(f"{call} has no slot")
        for slot, value in call.slots:
            if "=" in slot + value:
                raise Unscorable(f'{call} has a "=" in a slot')
            slot = _ONE_NAME.get(slot, slot)
            triplets.append((call.function.lower(), slot, _VS.sub("versus", value.lower())))
    return triplets


def _functions(calls: Iterable[TaggedCall]) -> list[Parts]:
    return [(call.function.lower(),) for call in calls]


def _parts(triplets: Iterable[Triplet], which: int) -> list[Parts]:
    return [(triplet[0], triplet[which]) for triplet in triplets]


def _figures(prefix: str, gold: Sequence[Parts], predicted: Sequence[Parts]) -> dict[str, float]:
    wanted, given = set(gold), set(predicted)
    right = len(wanted & given)
    precision = right / len(given) if given else 0.0
    recall = right / len(wanted) if wanted else 0.0
    return {
        f"{prefix}em": float(sorted(gold) == sorted(predicted)),
        f"{prefix}f1": harmonic_mean(precision, recall),
        f"{prefix}precision": precision,
        f"{prefix}recall": recall,
    }
