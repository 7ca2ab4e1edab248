"""Values by function and argument -> tags: where in the sentence each of them is said.

Whoever names values instead of writing the sentence again (an LM, a recorded call) cannot drop a word of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prefine_dspy.tagging.labels import action_label
from prefine_dspy.tagging.letters import occurrences, words
from prefine_dspy.tagging.parsing import ParsedTags
from prefine_dspy.tagging.problems import TagProblem
from prefine_dspy.tagging.tags import Action, Span, visible, well_formed
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

_PREFIXES = frozenset("get find search book list show fetch make has have is are for of the number".split())
_CUE_WORDS = 6
"""The words that say a boolean ("pets are allowed") stand at most so far apart."""
_STEM = 4


class Wanted(NamedTuple):
    """A function and the values named for it, in order.

    Args:
        slots: (argument, value) pairs; an argument may have several values.
    """

    function: str
    slots: Sequence[tuple[str, str]] = ()


def place(text: str, wanted: Sequence[Wanted], tools: Catalogue | None = None) -> ParsedTags:
    """Tag what is named.

    One function's action is the whole sentence. Of several, each goes from its first value or name ("Restaurants") to
    its last before another function's; one that is not said anywhere is the whole sentence, around the others.

    Args:
        text: the sentence.
        wanted: names as in the catalogue.
        tools: tells which arguments are booleans: for "True" the words that say so are looked for.
    """
    problems: list[TagProblem] = []
    found: list[tuple[Span, int]] = []  # a place and whose it is; a place without a name is a function's own
    for at, one in enumerate(wanted):
        for slot, value in one.slots:
            spot = _spot(text, one.function, slot, value, tools, [span for span, _ in found])
            if spot is None:
                problems.append(TagProblem("not_found", value))
            elif (span := Span(slot, *spot)) not in [other for other, owner in found if owner == at]:
                found.append((span, at))
    if len(wanted) == 1:
        spans = tuple(span for span, _ in found)
        actions = [Action(wanted[0].function, 0, len(text), spans)]
    else:
        actions = _shared(text, wanted, found)
    tagged, lost = well_formed(text, actions)
    return ParsedTags(tagged, [*problems, *(TagProblem("crossing", one.name) for one in lost)])


def from_calls(text: str, calls: Iterable[ToolCall], tools: Catalogue | None = None) -> ParsedTags:
    """Tag the values of calls in the sentence that they follow from."""
    wanted = [Wanted(call.name, [(slot, value) for _, slot, value in call.triplets()]) for call in calls]
    return place(text, wanted, tools)


def _spot(
    text: str, function: str, slot: str, value: str, tools: Catalogue | None, taken: Sequence[Span]
) -> tuple[int, int] | None:
    """The first place of a value that no other value has; a value said once may be two arguments' (a shared city)."""
    spots = occurrences(value, text) or occurrences(value.strip(" .,;:!?\"'"), text)
    if not spots and _is_boolean(function, slot, tools):
        spots = _cue(text, slot)
    free = [(a, b) for a, b in spots if all(b <= other.start or other.end <= a for other in taken)]
    return next(iter(free or spots), None)


def _is_boolean(function: str, slot: str, tools: Catalogue | None) -> bool:
    tool = tools.get(function) if tools else None
    parameter = tool.parameter(slot) if tool else None
    return parameter is not None and set(parameter.choices()) == {"True", "False"}


def _cue(text: str, slot: str) -> list[tuple[int, int]]:
    """The words that an argument is named after: `pets_allowed` is said by "allow pets"."""
    stems = [part[:_STEM] for part in slot.casefold().split("_") if part not in _PREFIXES and len(part) > 2]
    there = words(text)
    for at, word in enumerate(there):
        if not any(word.plain.startswith(stem) for stem in stems):
            continue
        window = there[at : at + _CUE_WORDS]
        last = max(i for i, one in enumerate(window) if any(one.plain.startswith(stem) for stem in stems))
        return [(word.start, window[last].end)]
    return []


def _shared(text: str, wanted: Sequence[Wanted], found: list[tuple[Span, int]]) -> list[Action]:
    """Actions of several functions in one sentence."""
    anchors = list(found)
    whole = []
    for at, one in enumerate(wanted):
        named = _named(text, one.function)
        if named is not None:
            anchors.append((Span("", *named), at))
        elif not any(owner == at for _, owner in found):
            whole.append(Action(one.function, *visible(text, 0, len(text))))
    anchors.sort(key=lambda anchor: (anchor[0].start, -anchor[0].end, anchor[1]))
    runs: list[tuple[int, list[Span]]] = []
    for span, owner in anchors:
        if not runs or runs[-1][0] != owner:
            runs.append((owner, []))
        runs[-1][1].append(span)
    return whole + [_run(wanted[owner].function, spans) for owner, spans in runs]


def _run(function: str, spans: list[Span]) -> Action:
    named = tuple(span for span in spans if span.name)
    return Action(function, min(span.start for span in spans), max(span.end for span in spans), named)


def _named(text: str, function: str) -> tuple[int, int] | None:
    """Where a function is called by its name: `GetHouseStays` by "HouseStays", "house stay" ..."""
    parts = [part for part in action_label(function).casefold().split("_") if part and part not in _PREFIXES]
    if not parts:
        return None
    pattern = r"[\s_-]?".join(rf"{re.escape(part.removesuffix('s'))}s?" for part in parts)
    match = re.search(rf"\b{pattern}\b", text, re.IGNORECASE)
    return match.span() if match else None
