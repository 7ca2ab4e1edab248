"""What can be done to one tag: rename it, drop it, shift its boundary, add a wrong one (TAPS section 5).

Every function returns the changed sentence, or None when the tag cannot be changed in that way. No move touches a word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from prefine_dspy.tagging import Action, Span, Tagged

_TOKEN = re.compile(r"\w+(?:['’&./-]\w+)*|[^\w\s]")

Place = tuple[int, int]


def rename_action(tagged: Tagged, action: int, names: Sequence[str], rng: random.Random) -> Tagged | None:
    """Another function of those given, all equally likely; the slots keep their names."""
    others = sorted({*names} - {tagged.actions[action].name})
    if not others:
        return None
    return _with_action(tagged, action, replace(tagged.actions[action], name=rng.choice(others)))


def rename_slot(tagged: Tagged, action: int, slot: Span, names: Sequence[str], rng: random.Random) -> Tagged | None:
    """One of the names given (those most similar to the slot's), all equally likely."""
    if not names:
        return None
    return _with_slot(tagged, action, slot, replace(slot, name=rng.choice(names)))


def drop_slot(tagged: Tagged, action: int, slot: Span) -> Tagged | None:
    """The words stay, untagged."""
    slots = list(tagged.actions[action].slots)
    slots.remove(slot)
    return _with_action(tagged, action, replace(tagged.actions[action], slots=tuple(slots)))


def shift_slot(tagged: Tagged, action: int, slot: Span, rng: random.Random) -> Tagged | None:
    """Take in the word before, take in the word after, or (with two words or more) lose those after a random one; what
    is possible is equally likely. Only words that no other tag begins, ends or holds are taken in, never punctuation.
    """
    tokens = _tokens(tagged.text)
    inside = [(start, end) for start, end in tokens if slot.start <= start and end <= slot.end]
    before = [place for place in tokens if place[1] <= slot.start][-1:]
    after = [place for place in tokens if place[0] >= slot.end][:1]
    moves = [replace(slot, start=place[0]) for place in before if _is_free(tagged, action, place)]
    moves += [replace(slot, end=place[1]) for place in after if _is_free(tagged, action, place)]
    if len(inside) > 1:
        moves.append(replace(slot, end=inside[rng.randrange(len(inside) - 1)][1]))
    possible = [found for move in moves if (found := _with_slot(tagged, action, slot, move)) is not None]
    return rng.choice(possible) if possible else None


def add_slot(tagged: Tagged, names_for: Callable[[str], Sequence[str]], rng: random.Random) -> Tagged | None:
    """Tag a random word or two that no slot holds in the first action, with one of the names for these words.

    Args:
        names_for: the names that go with some words; all equally likely.
    """
    if not tagged.actions:
        return None
    places = [place for place in _tokens(tagged.text) if _is_free(tagged, 0, place)]
    pairs = [
        (first[0], second[1])
        for first, second in zip(places, places[1:], strict=False)
        if not tagged.text[first[1] : second[0]].strip()
    ]
    place = rng.choice(pairs if pairs and rng.random() < 0.5 else places) if places else None
    if place is None or not (names := names_for(tagged.text[place[0] : place[1]])):
        return None
    first_action = tagged.actions[0]
    added = Span(rng.choice(names), *place)
    return _with_action(tagged, 0, replace(first_action, slots=(*first_action.slots, added)))


def _tokens(text: str) -> list[Place]:
    return [match.span() for match in _TOKEN.finditer(text)]


def _is_free(tagged: Tagged, action: int, place: Place) -> bool:
    """Whether a token is a word directly in an action, in none of its slots and in no action nested in it."""
    owner = tagged.actions[action]
    if not tagged.text[place[0]].isalnum() or not (owner.start <= place[0] and place[1] <= owner.end):
        return False
    return not any(
        tag.start < place[1] and place[0] < tag.end
        for tag in tagged.tags()
        if tag.slot is not None or not (tag.start <= owner.start and owner.end <= tag.end)
    )


def _with_slot(tagged: Tagged, action: int, slot: Span, changed: Span) -> Tagged | None:
    slots = list(tagged.actions[action].slots)
    slots[slots.index(slot)] = changed
    return _with_action(tagged, action, replace(tagged.actions[action], slots=tuple(slots)))


def _with_action(tagged: Tagged, action: int, changed: Action) -> Tagged | None:
    """The sentence with one action changed; None if its tags would cross."""
    actions = list(tagged.actions)
    actions[action] = changed
    try:
        return Tagged(tagged.text, tuple(actions))
    except ValueError:
        return None
