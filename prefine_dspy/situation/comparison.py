"""Comparing a fact with what a constraint requires: true, false, or None where the two cannot be compared.

Never an exception and never a guess: what does not compare leaves a constraint unsatisfied, not violated (IDSS
section 3.3).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "exists", "matches"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_TIME = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?:\s?\+(\d))?")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
_NEGATED = {"!=": "==", "not in": "in"}
_LONGEST_PATTERN = 200


def holds(fact: Any, operator: Operator, required: Any = None) -> bool | None:
    """Whether `fact operator required` is true; None if it cannot be told.

    Numbers compare as numbers, also when one of them is text; ISO dates and times as such, a date and a moment by their
    days; words without letter case, `_` and `-` as blanks; truth values also with yes and no.

    Args:
        fact: a JSON value.
        required: a JSON value; a list for `in`; for `matches` a text with the wildcards * and ?, no regular expression
            (one that an LM writes could run for hours).
    """
    if operator in _NEGATED:
        found = holds(fact, _NEGATED[operator], required)  # type: ignore[arg-type]
        return None if found is None else not found
    if operator == "exists":
        return fact is not None
    if operator == "==":
        return _equal(fact, required)
    if operator == "in":
        return _any_equal(required, fact) if isinstance(required, list) else _contains(required, fact)
    if operator == "contains":
        return _contains(fact, required)
    if operator == "matches":
        return _matches(fact, required)
    pair = _comparable(fact, required)
    return None if pair is None else _ORDER[operator](*pair)


def _equal(fact: Any, required: Any) -> bool | None:
    if isinstance(fact, bool) or isinstance(required, bool):
        one, other = _truth(fact), _truth(required)
        return None if one is None or other is None else one == other
    if fact is None or required is None:
        return fact is required
    if isinstance(fact, list | dict) or isinstance(required, list | dict):
        return _same(fact, required) if type(fact) is type(required) else None
    if isinstance(fact, str) and isinstance(required, str):
        if _plain(fact) == _plain(required):
            return True
        pair = _moments(fact, required)
        return pair is not None and pair[0] == pair[1]
    pair = _numbers(fact, required)
    return None if pair is None else pair[0] == pair[1]


def _any_equal(values: list[Any], wanted: Any) -> bool | None:
    """Whether a list has the value. What cannot be compared is none of them, unless that is all there is to know."""
    found = [_equal(one, wanted) for one in values]
    if True in found:
        return True
    return False if False in found or not found else None


def _contains(whole: Any, part: Any) -> bool | None:
    if isinstance(whole, list):
        return _any_equal(whole, part)
    if isinstance(whole, dict):
        return _any_equal(list(whole), part)
    if isinstance(whole, str) and isinstance(part, str):
        return _plain(part) in _plain(whole)
    return None


def _matches(fact: Any, pattern: Any) -> bool | None:
    if not isinstance(fact, str) or not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
        return None
    if re.search(r"[\\^$()+|{}]|\.\*", pattern):  # meant as a regular expression: it would fail for the wrong reason
        return None
    return fnmatchcase(_plain(fact), _plain(pattern))


def _comparable(fact: Any, required: Any) -> tuple[Any, Any] | None:
    """Both as numbers, else both as dates or times, else None: the order of words means nothing."""
    return _numbers(fact, required) or _moments(fact, required)


def _numbers(one: Any, other: Any) -> tuple[float, float] | None:
    first, second = _number(one), _number(other)
    return None if first is None or second is None else (first, second)


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if isinstance(value, int) or math.isfinite(value) else None
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        text = value.strip()
        return float(text) if "." in text else int(text)
    return None


def _moments(one: Any, other: Any) -> tuple[Any, Any] | None:
    first, second = _moment(one), _moment(other)
    if isinstance(first, datetime) and isinstance(second, datetime):
        return (first, second) if (first.tzinfo is None) == (second.tzinfo is None) else None
    if isinstance(first, date) and isinstance(second, date):
        return _day(first), _day(second)
    if isinstance(first, int) and isinstance(second, int):
        return first, second
    return None


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _moment(value: Any) -> date | int | None:
    """A date, a moment, or a time of day as seconds ("03:00:00+1" is on the next day)."""
    if not isinstance(value, str) or not 4 <= len(value.strip()) <= 35:
        return None
    text = value.strip()
    if found := _TIME.fullmatch(text):
        hours, minutes, seconds, days = (int(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if "-" not in text:  # an id of eight digits is not a date
        return None
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _truth(value: Any) -> bool | None:
    return (
        value if isinstance(value, bool) else _TRUTH.get(value.strip().casefold()) if isinstance(value, str) else None
    )


def _plain(text: str) -> str:
    return re.sub(r"[\s_]+|(?<=[^\W\d])-(?=[^\W\d])", " ", text.strip()).casefold()


def _same(one: Any, other: Any) -> bool | None:
    try:
        return bool(one == other)
    except RecursionError:
        return None
