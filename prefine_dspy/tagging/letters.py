"""Where the letters of one text stand in another: what LMs change when they copy are blanks, quotes and letter case."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import NamedTuple

_WORD = re.compile(r"\w+(?:['’.&/-]\w+)*")
_NEAR = 0.8
"""Similarity (difflib ratio) from which a word is a misspelt other one."""
_LONGEST_SEARCH = 400
"""Words of a text in which near misses are looked for; difflib is slow."""


class Letters(NamedTuple):
    """The letters and digits of a text, without case, accents' compositions, blanks and punctuation.

    Args:
        plain: the letters.
        at: for each of them its offset in the text.
    """

    plain: str
    at: list[int]


def letters(text: str) -> Letters:
    """Fold a text to its letters."""
    plain: list[str] = []
    at: list[int] = []
    for offset, character in enumerate(text):
        for one in unicodedata.normalize("NFKC", character).casefold():
            if one.isalnum():
                plain.append(one)
                at.append(offset)
    return Letters("".join(plain), at)


class Word(NamedTuple):
    """A word with its offsets; `plain` are its letters."""

    plain: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text: `kid-friendly`, `Joe's` and `24/7` are one each."""
    found = (Word(letters(match[0]).plain, match.start(), match.end()) for match in _WORD.finditer(text))
    return [word for word in found if word.plain]


def alike(a: str, b: str) -> bool:
    """Whether two words may be spellings of one. Numbers have no near misses."""
    if any(character.isdigit() for character in a + b):
        return a == b
    return a == b or difflib.SequenceMatcher(None, a, b).ratio() >= _NEAR


def occurrences(value: str, text: str) -> list[tuple[int, int]]:
    """Where a value stands in a text as whole words: exactly, else without case, blanks and punctuation, else the one
    place whose words are nearly the same."""
    value = value.strip()
    exact = [match.span() for match in re.finditer(re.escape(value), text) if _whole(text, *match.span())]
    if exact or not value:
        return exact if value else []
    wanted, inside = letters(value).plain, letters(text)
    found = []
    position = inside.plain.find(wanted) if wanted else -1
    while position >= 0:
        start, end = inside.at[position], inside.at[position + len(wanted) - 1] + 1
        if _whole(text, start, end):
            found.append((start, end))
        position = inside.plain.find(wanted, position + 1)
    return found or _nearly(value, text)


def _nearly(value: str, text: str) -> list[tuple[int, int]]:
    wanted = [word.plain for word in words(value)]
    there = words(text)
    if not wanted or len(there) > _LONGEST_SEARCH or len(wanted) > len(there):
        return []
    found = []
    for at in range(len(there) - len(wanted) + 1):
        window = there[at : at + len(wanted)]
        if all(alike(a.plain, b) for a, b in zip(window, wanted, strict=True)):
            found.append((window[0].start, window[-1].end))
    return found if len(found) == 1 else []


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a place begins and ends where words do."""
    inside_left = text[start - 1 : start].isalnum() and text[start].isalnum()
    inside_right = text[end : end + 1].isalnum() and text[end - 1].isalnum()
    return not (inside_left or inside_right)
