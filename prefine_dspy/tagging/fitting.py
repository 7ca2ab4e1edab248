"""Move the tags of a copied sentence onto the sentence itself, or refuse: the words of an instruction must survive.

An LM that writes a sentence again changes blanks, quotes and spellings, and now and then drops or adds words. Only the
tags are taken from what it wrote; the text is always the original.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from prefine_dspy.tagging.letters import Word, alike, letters, occurrences, words
from prefine_dspy.tagging.tags import Action, Span, Tagged, well_formed

_LONGEST = 1_000  # words; aligning takes quadratic time
_SHARE = 4
"""One word in four may be dropped or added, and always two."""

Pairs = dict[int, tuple[int, int]]
"""By place of a word in the copy, the first and the last place of its words in the original."""
Move = Callable[[int, int], tuple[int, int] | None]


class Fitted(NamedTuple):
    """Tags on the sentence that was to be tagged.

    Args:
        tagged: on the sentence itself; None when it was refused because too much of it is missing or new.
        dropped: words of the sentence that the copy lacks.
        added: words of the copy that the sentence lacks. A word in another spelling is in both.
    """

    tagged: Tagged | None
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def fit(tagged: Tagged, instruction: str) -> Fitted:
    """Move tags onto `instruction`.

    Differences in blanks, quotes, punctuation and letter case are no differences. Words before and after the copied
    sentence are let go. Up to a quarter of the words may be missing, new or misspelt: tags then hold the words that
    both sides have, a value that is only new is looked for in the instruction and dropped if it is not there once.
    """
    if tagged.text == instruction:
        return Fitted(tagged)
    copy, original = letters(tagged.text), letters(instruction)
    if copy.plain == original.plain:
        places = dict(zip(copy.at, original.at, strict=True))
        return Fitted(_moved(tagged, instruction, lambda start, end: _by_letters(places, start, end)))
    here, there = words(tagged.text), words(instruction)
    if max(len(here), len(there)) > _LONGEST:
        return Fitted(None, tuple(_text(instruction, there)), tuple(_text(tagged.text, here)))
    pairs, respelt = _aligned(here, there)
    paired = _paired(pairs)
    dropped = [word for at, word in enumerate(there) if at not in paired or at in respelt.values()]
    added = [word for at, word in enumerate(here) if at not in pairs or at in respelt]
    fitted = Fitted(None, tuple(_text(instruction, dropped)), tuple(_text(tagged.text, added)))
    if _cost(here, there, pairs, tagged, instruction) > max(2, len(there) // _SHARE):
        return fitted

    def move(start: int, end: int) -> tuple[int, int] | None:
        return _by_words(here, there, pairs, start, end)

    return fitted._replace(tagged=_moved(tagged, instruction, move))


def _text(text: str, chosen: Sequence[Word]) -> list[str]:
    return [text[word.start : word.end] for word in chosen]


def _paired(pairs: Pairs) -> set[int]:
    return {at for first, last in pairs.values() for at in range(first, last + 1)}


def _aligned(here: list[Word], there: list[Word]) -> tuple[Pairs, dict[int, int]]:
    """Which words of the copy are which of the original; and those of them that are spelt in another way."""
    pairs: Pairs = {}
    respelt: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, [w.plain for w in here], [w.plain for w in there], autojunk=False)
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        if kind == "equal":
            pairs |= {at: (to, to) for at, to in zip(range(a, a_end), range(b, b_end), strict=True)}
        elif kind == "replace":
            joined = ["".join(word.plain for word in side) for side in (here[a:a_end], there[b:b_end])]
            if joined[0] == joined[1]:  # "7pm" for "7 pm"
                pairs |= dict.fromkeys(range(a, a_end), (b, b_end - 1))
            elif a_end - a == b_end - b:
                for at, to in zip(range(a, a_end), range(b, b_end), strict=True):
                    if alike(here[at].plain, there[to].plain):
                        pairs[at], respelt[at] = (to, to), to
    return pairs, respelt


def _cost(here: list[Word], there: list[Word], pairs: Pairs, tagged: Tagged, instruction: str) -> int:
    """Words missing and new, moved ones once. Free are new ones before and after the sentence that no tag holds, and
    those of a value that was only moved: it stands once in the sentence, so its place is not in doubt."""
    paired = _paired(pairs)
    moved_from: set[int] = set()
    moved_to: set[int] = set()
    for tag in tagged.tags():
        inside = [at for at, word in enumerate(here) if tag.start <= word.start and word.end <= tag.end]
        if tag.slot is None or not inside or not any(at not in pairs for at in inside):
            continue
        if (only := _only_place(tagged.words(tag), instruction)) is not None:
            moved_from |= set(inside)
            moved_to |= {at for at, word in enumerate(there) if only[0] <= word.start and word.end <= only[1]}
    first, last = min(pairs, default=len(here)), max(pairs, default=-1)
    missing = [at for at in range(len(there)) if at not in paired and at not in moved_to]
    new = [
        at
        for at, word in enumerate(here)
        if at not in pairs and at not in moved_from and (first < at < last or _held(word, tagged))
    ]
    moved = Counter(there[at].plain for at in missing) & Counter(here[at].plain for at in new)
    return len(missing) + len(new) - moved.total()


def _held(word: Word, tagged: Tagged) -> bool:
    return any(tag.slot is not None and tag.start < word.end and word.start < tag.end for tag in tagged.tags())


def _by_letters(places: dict[int, int], start: int, end: int) -> tuple[int, int] | None:
    inside = [places[offset] for offset in range(start, end) if offset in places]
    return (inside[0], inside[-1] + 1) if inside else None


def _by_words(here: list[Word], there: list[Word], pairs: Pairs, start: int, end: int) -> tuple[int, int] | None:
    inside = [pairs[at] for at, word in enumerate(here) if at in pairs and word.start < end and start < word.end]
    return (there[inside[0][0]].start, there[inside[-1][1]].end) if inside else None


def _moved(tagged: Tagged, instruction: str, move: Move) -> Tagged:
    actions = []
    for action in tagged.actions:
        slots: list[Span] = []
        for slot in action.slots:
            place = _with_edges(tagged, slot, instruction, move) or _only_place(tagged.words(slot), instruction)
            if place is not None and (moved := Span(slot.name, *place)) not in slots:
                slots.append(moved)
        start, end = _action_place(tagged, action, instruction, move)
        actions.append(Action(action.name, start, end, tuple(slots)))
    return well_formed(instruction, actions)[0]


def _action_place(tagged: Tagged, action: Action, instruction: str, move: Move) -> tuple[int, int]:
    """Where an action's words are. What it has on its side up to the end of the copy it has up to the end of the
    sentence."""
    start, end = _with_edges(tagged, action, instruction, move) or (0, 0)
    if move(0, action.start) is None and action.start < action.end:
        start = 0
    if move(action.end, len(tagged.text)) is None and not tagged.text[action.end :].strip():
        end = len(instruction)
    return start, end


def _with_edges(tagged: Tagged, piece: Span | Action, instruction: str, move: Move) -> tuple[int, int] | None:
    """The piece's words in the instruction, with the punctuation at its edges where both texts have it."""
    place = move(piece.start, piece.end)
    if place is None:
        return None
    start, end = place
    inside = tagged.words(piece)
    for character in reversed(inside[: _lead(inside)]):
        if start > 0 and instruction[start - 1] == character:
            start -= 1
    for character in inside[len(inside) - _lead(inside[::-1]) :]:
        if instruction[end : end + 1] == character:
            end += 1
    return start, end


def _lead(text: str) -> int:
    """How many characters come before the first letter or digit."""
    return next((at for at, character in enumerate(text) if character.isalnum()), 0)


def _only_place(value: str, instruction: str) -> tuple[int, int] | None:
    found = occurrences(value, instruction)
    return found[0] if len(found) == 1 else None
