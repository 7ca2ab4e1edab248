"""A tagged piece of a sentence as the value that a call holds: "two-star" is 2, "serves alcohol" is True."""

from __future__ import annotations

import re

from prefine_dspy.parsing_fit import Dropped, fit_value
from prefine_dspy.tagging.tags import is_negated
from prefine_dspy.tools import Parameter

_NUMBERS = {
    word: str(number) for number, word in enumerate("zero one two three four five six seven eight nine ten".split())
}
_COUNTED = frozenset("number rating size beds baths rooms passengers transfers stops stars".split())
_POSSESSIVE = re.compile(r"['’]s$")
_SMALL_WORDS = frozenset("a an and of or the".split())
_SHORTEST_STEM, _STEM = 3, 5


def called(parameter: Parameter, piece: str) -> list[str]:
    """The values that a piece of a sentence gives an argument: usually one, several for "Jazz or Blues".

    Args:
        parameter: of the tool that the piece was tagged for.
        piece: the sentence's own words.
    """
    values = [_value(parameter, part) for part in re.split(r"\s+or\s+", piece)]
    return [value for value in dict.fromkeys(values) if value]


def alike(a: str, b: str) -> bool:
    """Whether two values mean the same in different words: "dramas" and "Drama", "worship" and "Place of Worship"."""
    shorter, longer = sorted((_stems(a), _stems(b)), key=len)
    return bool(shorter) and all(any(_same(one, other) for other in longer) for one in shorter)


def wordier(a: str, b: str) -> str:
    """The one of two values that says more; the second when they say as much."""
    return a if len(_stems(a)) > len(_stems(b)) else b


def _value(parameter: Parameter, piece: str) -> str:
    text = _POSSESSIVE.sub("", piece.strip().strip('.,;:!"“”').strip())
    if not text:
        return ""
    if parameter.type == "boolean":
        return "False" if is_negated(text) else "True"
    if parameter.choices():
        fitted = fit_value(text, parameter)
        return text if isinstance(fitted, Dropped) else str(fitted)
    if parameter.type in ("integer", "number") or _COUNTED & set(parameter.name.split("_")):
        numbers = [_NUMBERS.get(word, word) for word in re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.casefold())]
        numbers = [one for one in numbers if one[0].isdigit()]
        if len(numbers) == 1:
            return numbers[0]
    return text


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in re.findall(r"\w+", text.casefold()) if word not in _SMALL_WORDS]


def _same(a: str, b: str) -> bool:
    """Equal but for an ending."""
    length = max(_SHORTEST_STEM, min(len(a), len(b)) - 1)
    return a == b or (a[:length] == b[:length] and not a[0].isdigit())
