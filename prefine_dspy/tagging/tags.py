"""Structured tags: which words of a sentence concern which function, and which are the value of which argument
(TAPS section 3.1).

A tag is a pair of offsets into the sentence, never a rewritten sentence: whoever moves, renames or drops tags cannot
change a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from prefine_dspy.parsing_fit import Dropped, fit_value
from prefine_dspy.tools import Catalogue

NAME = re.compile(r"[^\s<>\[\]]+")
_NEGATION = re.compile(r"\b(?:not|no|non|without|never|avoid)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class Span:
    """The value of an argument.

    Args:
        name: the argument, e.g. "pets_allowed".
        start, end: offsets of its words in the text; the words of a boolean are those that say it ("allow pets").
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Action:
    """The words that concern a function, with the values among them.

    Args:
        name: the function, e.g. "GetHouseStays".
        start, end: offsets in the text.
        slots: inside the action, not inside an action nested in it; a slot may hold other slots.
    """

    name: str
    start: int
    end: int
    slots: tuple[Span, ...] = ()


class Tag(NamedTuple):
    """One action or slot of a sentence.

    Args:
        action: the action's place in `Tagged.actions`.
        slot: the slot's place in `Action.slots`; None for the action itself.
    """

    name: str
    start: int
    end: int
    action: int
    slot: int | None

    @property
    def order(self) -> tuple[int, int, int, bool, int]:
        """Outer tags first; of tags with the same words, earlier actions are outside and slots inside their action."""
        return self.start, -self.end, self.action, self.slot is not None, self.slot or 0


@dataclass(frozen=True)
class Tagged:
    """A sentence with its tags.

    Args:
        text: the sentence, untouched.
        actions: one after the other or one inside the other; of two with the same words the first is outside.

    Raises:
        ValueError: an offset outside the text, a tag that begins or ends with a blank, tags that cross, a name that
            cannot be written as a tag.
    """

    text: str
    actions: tuple[Action, ...] = ()

    def __post_init__(self) -> None:
        nesting = list(self.tags())
        for tag in nesting:
            if not NAME.fullmatch(tag.name):
                raise ValueError(f"{tag.name!r} cannot be a tag's name: no blanks and no brackets")
            if not 0 <= tag.start < tag.end <= len(self.text):
                raise ValueError(f"tag {tag.name} {tag.start}:{tag.end} lies outside the text or holds nothing")
            if self.text[tag.start].isspace() or self.text[tag.end - 1].isspace():
                raise ValueError(f"tag {tag.name} {tag.start}:{tag.end} begins or ends with a blank")
        open_tags: list[Tag] = []
        for tag in nesting:
            while open_tags and open_tags[-1].end <= tag.start:
                open_tags.pop()
            if open_tags and open_tags[-1].end < tag.end:
                raise ValueError(f"tags {open_tags[-1].name} and {tag.name} cross")
            if tag.slot is not None:
                owner = next((one.action for one in reversed(open_tags) if one.slot is None), None)
                if owner != tag.action:
                    raise ValueError(f"slot {tag.name} {tag.start}:{tag.end} is not directly inside its action")
            open_tags.append(tag)

    def tags(self) -> Iterator[Tag]:
        """All tags, outer before inner, left to right."""
        return iter(sorted(_tags(self.actions), key=lambda tag: tag.order))

    def words(self, tag: Span | Action | Tag) -> str:
        """What stands inside a tag."""
        return self.text[tag.start : tag.end]


class Triplet(NamedTuple):
    """The unit that NLSI's metrics count."""

    function: str
    slot: str
    value: str


def triplets(tagged: Tagged, tools: Catalogue | None = None) -> list[Triplet]:
    """What a tagged sentence says, left to right in each action.

    Args:
        tools: if given, values of closed sets are brought to their spelling and the words of a boolean to True, or
            False where they hold a negation; without it (and where no choice is meant) values are the tagged words.
    """
    found = []
    for action in tagged.actions:
        for slot in sorted(action.slots, key=lambda one: (one.start, -one.end)):
            found.append(Triplet(action.name, slot.name, _value(tagged.words(slot), action.name, slot.name, tools)))
    return found


def _value(words: str, function: str, slot: str, tools: Catalogue | None) -> str:
    tool = tools.get(function) if tools else None
    parameter = tool.parameter(slot) if tool else None
    if parameter is None or not parameter.choices():
        return words
    fitted = fit_value(words, parameter)
    if not isinstance(fitted, Dropped):
        return str(fitted)
    if set(parameter.choices()) == {"True", "False"}:
        return "False" if is_negated(words) else "True"
    return words


def is_negated(words: str) -> bool:
    """Whether words that say a boolean say it is not so: "no pets", "doesn't serve alcohol"."""
    return _NEGATION.search(words) is not None


def well_formed(text: str, actions: Iterable[Action]) -> tuple[Tagged, list[Span | Action]]:
    """The tagged sentence of actions whose offsets may be anything, and what had to be left out.

    Tags shrink to the words they hold and an action grows around its slots; a tag that still crosses another is left
    out, an action with its slots.
    """
    kept: list[Action] = []
    lost: list[Span | Action] = []
    for action in actions:
        slots = [Span(slot.name, *visible(text, slot.start, slot.end)) for slot in action.slots]
        pieces = [visible(text, action.start, action.end), *((slot.start, slot.end) for slot in slots)]
        pieces = [(start, end) for start, end in pieces if start < end]
        if not pieces:
            lost.append(action)
            continue
        bare = Action(action.name, min(start for start, _ in pieces), max(end for _, end in pieces))
        if _crosses(text, [*kept, bare]):
            lost.append(action)
            continue
        for slot in slots:
            grown = replace(bare, slots=(*bare.slots, slot))
            if _crosses(text, [*kept, grown]):
                lost.append(slot)
            else:
                bare = grown
        kept.append(bare)
    return Tagged(text, tuple(kept)), lost


def _crosses(text: str, actions: Sequence[Action]) -> bool:
    try:
        Tagged(text, tuple(actions))
    except ValueError:
        return True
    return False


def visible(text: str, start: int, end: int) -> tuple[int, int]:
    """The offsets without blanks at either end; empty (start >= end) when there is nothing else."""
    start, end = max(0, start), min(len(text), end)
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _tags(actions: Sequence[Action]) -> Iterator[Tag]:
    for at, action in enumerate(actions):
        yield Tag(action.name, action.start, action.end, at, None)
        for number, slot in enumerate(action.slots):
            yield Tag(slot.name, slot.start, slot.end, at, number)
