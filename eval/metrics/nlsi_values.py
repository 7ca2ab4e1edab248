"""When two NLSI argument values say the same: as `eval.metrics.values`, and in the spoken forms that the dialogues use.

Every reading is taken from one value alone. The gold is never looked at to decide what a prediction means, so
"March 3rd" is not "March 4th", and "the 9th" is not "March 9th", whose month it does not say.
"""

from __future__ import annotations

import re
from functools import lru_cache

from eval.metrics.locations import same_place
from eval.metrics.values import Value, read_value, same_value
from prefine_dspy.tools import Parameter

ANY = "any"
"""The user does not care: a value like any other, which a gold may want."""
REQUESTED = "?"
"""The user asks for the value."""

_PLACE = re.compile(
    r"(?:^|_)(?:city|location|area|origin|destination|to)$|_airport$|^(?:origin|destination)_station_name$"
)
_LONGEST = 200  # characters of a value that is read as more than text

_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-"})
_VERSUS = re.compile(r"\bv(?:s|ersus)?\b\.?")
_MONEY = re.compile(r"\$ ?(?=[0-9])|(?<=[0-9]),(?=[0-9]{3}\b)")
_LEADING = re.compile(r"^(?:(?:on|at|by|the|in) )+")
_THIS_MONTH = re.compile(r" of this month$")
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b")

_PART_OF_DAY = re.compile(r" ?\b(?:in the |at )?(?P<part>morning|afternoon|evening|night)\b ?")
_HALF_OF_DAY = {"morning": "am", "afternoon": "pm", "evening": "pm", "night": "pm"}
_SPOKEN = re.compile(r"(?P<how>half past|quarter past|quarter to) (?P<hour>1[0-2]|[1-9])\b")
_BARE_HOUR = re.compile(r"(?P<hour>1[0-2]|[1-9])(?: ?o'clock)?")
_NAMED_TIMES = {"noon": "12 pm", "midday": "12 pm", "midnight": "12 am"}


def is_place(argument: str) -> bool:
    """Whether an argument holds the name of a city or an area, judged by the argument's name."""
    return bool(_PLACE.search(argument))


def same(argument: str, gold: str, predicted: str, parameter: Parameter | None = None) -> bool:
    """Whether a predicted value says the same as the gold value.

    Args:
        argument: its name tells places, dates and times.
        gold, predicted: as text.
        parameter: the argument's schema, if known.
    """
    if same_value(gold, predicted, parameter):
        return True
    if is_place(argument) and len(gold) + len(predicted) < _LONGEST and same_place(gold, predicted):
        return True
    return same_value(plain(argument, gold), plain(argument, predicted), parameter)


def read(argument: str, value: str) -> Value:
    """A value as number, date and time, after its spoken form has been written out."""
    return read_value(plain(argument, value))


@lru_cache(maxsize=100_000)
def plain(argument: str, value: str) -> str:
    """A value without typography and spoken forms: "$1,200" is "1200", "half past 6 in the evening" is "6:30 pm"."""
    if len(value) > _LONGEST:
        return value
    text = " ".join(value.translate(_TYPOGRAPHIC).casefold().split())
    if "time" in argument:
        return _time(text)
    if "date" in argument:
        return _THIS_MONTH.sub("", _LEADING.sub("", text))
    text = _MONEY.sub("", _VERSUS.sub("vs", text))
    return str(_NUMBERS.index(text)) if text in _NUMBERS else text


def _time(text: str) -> str:
    """Clock times as "H:MM am"; text that is none is kept."""
    text = _LEADING.sub("", text)
    text = _NUMBER_WORD.sub(lambda found: str(_NUMBERS.index(found[0])), _NAMED_TIMES.get(text, text))
    part = _PART_OF_DAY.search(text)
    clock = _LEADING.sub("", _PART_OF_DAY.sub(" ", text, count=1).strip())
    if spoken := _SPOKEN.fullmatch(clock):
        hour = int(spoken["hour"])
        if spoken["how"] == "quarter to":
            hour = hour - 1 or 12
        clock = f"{hour}:{'30' if spoken['how'] == 'half past' else '45' if spoken['how'] == 'quarter to' else '15'}"
    elif bare := _BARE_HOUR.fullmatch(clock):
        clock = f"{bare['hour']}:00"
    if not re.fullmatch(r"1?[0-9]:[0-9]{2}", clock):
        return text
    return f"{clock} {_half(part['part'], clock)}" if part else clock


def _half(part: str, clock: str) -> str:
    small_hours = part == "night" and int(clock.partition(":")[0]) in (12, 1, 2, 3, 4)
    return "am" if small_hours else _HALF_OF_DAY[part]
