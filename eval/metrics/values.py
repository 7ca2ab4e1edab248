"""When two argument values are the same, for the strict scorer: by what they mean, never by guessing.

Text ignores case, blanks and Unicode form; numbers, booleans, dates and times are compared as such when *both* values
are written as one. A date without a year equals that day of any year, since the query may not have said the year.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, NamedTuple

from prefine_dspy.tools import Parameter
from prefine_dspy.types import value_text

_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[0-9]{4})"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_YEAR}[-/](?P<month>[0-9]{{1,2}})[-/](?P<day>[0-9]{{1,2}})",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?",
        rf"(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?",
    )
)
_TIME = re.compile(r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::00)?)? ?(?P<half>[ap]\.?m\.?)?")
_LONGEST = 64  # characters of a number, date or time; longer text is only ever text


class Day(NamedTuple):
    """A calendar day; year None when it was not written."""

    year: int | None
    month: int
    day: int

    def same(self, other: Day) -> bool:
        return self[1:] == other[1:] and (self.year is None or other.year is None or self.year == other.year)


class Value(NamedTuple):
    """A value under every reading it admits; None where it does not admit one."""

    text: str
    boolean: bool | None = None
    number: Decimal | None = None
    day: Day | None = None
    minutes: int | None = None


def same_value(gold: Any, predicted: Any, parameter: Parameter | None = None) -> bool:
    """Whether a predicted value says the same as the gold value.

    Args:
        gold, predicted: JSON values or text.
        parameter: the argument's schema, if known. "yes" counts as True only for a boolean argument, or when the
            gold itself is True or False.
    """
    wanted, given = read_value(value_text(gold)), read_value(value_text(predicted))
    if wanted.text == given.text:
        return True
    boolean = parameter.type == "boolean" if parameter else wanted.text in ("true", "false")
    if boolean and wanted.boolean is not None:
        return wanted.boolean == given.boolean
    if wanted.number is not None and given.number is not None:
        return wanted.number == given.number
    if wanted.day and given.day:
        return wanted.day.same(given.day)
    return wanted.minutes is not None and wanted.minutes == given.minutes


@lru_cache(maxsize=100_000)
def read_value(text: str) -> Value:
    """Read a value's text as boolean, number, date and time where it is written as one."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if len(plain) > _LONGEST:
        return Value(plain)
    return Value(plain, _BOOLEANS.get(plain), _number(plain), _day(plain), _minutes(plain))


def _number(text: str) -> Decimal | None:
    if not re.fullmatch(r"[+-]?[0-9]+(?:\.[0-9]+)?", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _day(text: str) -> Day | None:
    for pattern in _DATES:
        if found := pattern.fullmatch(text):
            month_text, day = found["month"], int(found["day"])
            month = int(month_text) if month_text.isdigit() else _MONTHS.index(month_text) + 1
            if 1 <= month <= 12 and 1 <= day <= _MONTH_DAYS[month - 1]:
                return Day(int(found["year"]) if found["year"] else None, month, day)
    return None


def _minutes(text: str) -> int | None:
    """Minutes since midnight; a bare number is no time."""
    found = _TIME.fullmatch(text)
    if not found or not (found["minute"] or found["half"]):
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] == "p" else 0)
    return hour * 60 + minute if hour < 24 and minute < 60 else None
