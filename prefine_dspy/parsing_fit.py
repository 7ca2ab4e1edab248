"""Bring a call to the catalogue's spelling, and drop what does not fit, with a reason for each.

A value is only ever corrected to the one choice it can mean; where two are possible it is dropped, because a wrong
argument costs the user more than a missing one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from prefine_dspy.parsing_syntax import plain_name
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import ToolCall, value_text

_NEAR = 0.85
"""Similarity (difflib ratio) from which a misspelt name is taken for a known one."""
_LONGEST_NAME = 100  # characters; difflib takes quadratic time

_PLACEHOLDERS = {
    *("", "-", "?", "...", "unspecified", "unknown", "undefined", "any", "anything", "none", "null", "nan", "nil"),
    *("n/a", "na", "tbd", "not specified", "not provided", "not given", "not mentioned", "not stated", "not known"),
    *("not applicable", "no preference", "to be determined", "dontcare", "don't care", "default", "placeholder"),
    *("user specified", "user preference", "user's preference", "string", "value", "empty", "missing"),
}
_BRACKETED = re.compile(r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|\(?\s*unspecified\s*\)?")
_OWNER = re.compile(
    r"(?:your|the user'?s?|user'?s?|my|the|enter|insert|some)(?: (?:your|the|desired|preferred|a))* (.+)"
)
_GENERIC = frozenset(
    "city location destination origin date time place address area value preference choice number option "
    "departure return pickup dropoff current home preferred desired".split()
)
_TRUE, _FALSE = {"true", "yes", "y", "on", "1", "1.0"}, {"false", "no", "n", "off", "0", "0.0"}
_NEGATION = {"not", "no", "non", "without", "except", "never", "or", "either", "neither", "any"}


class Dropped(NamedTuple):
    """Something of an answer that did not become part of a call, and why."""

    kind: Literal[
        "unknown_function",
        "unknown_argument",
        "value_not_allowed",
        "placeholder",
        "unreadable_value",
        "not_grounded",  # an open value that the LM did not read anywhere (`grounding`)
    ]
    function: str
    argument: str = ""
    value: str = ""


def fit_call(name: str, arguments: dict[str, Any], tools: Catalogue) -> tuple[ToolCall | None, list[Dropped]]:
    """The call in the catalogue's terms, or None if there is no such function; and what was dropped."""
    tool_name = closest(name.rpartition(".")[2] or name, [tool.name for tool in tools])
    tool = tools.get(tool_name) if tool_name else None
    if tool is None:
        return None, [Dropped("unknown_function", name)]
    fitted: dict[str, Any] = {}
    dropped: list[Dropped] = []
    for argument, value in arguments.items():
        parameter = _parameter(argument, tool)
        if parameter is None:
            dropped.append(Dropped("unknown_argument", tool.name, argument, value_text(value)))
            continue
        kept, misfits = _fit_values(value, parameter, tool.name)
        dropped += misfits
        if kept:
            single = parameter.type != "array" and len(kept) == 1
            fitted[parameter.name] = kept[0] if single else kept
    return ToolCall(name=tool.name, arguments=fitted), dropped


def _parameter(name: str, tool: Tool) -> Parameter | None:
    found = closest(name, [parameter.name for parameter in tool.parameters])
    return tool.parameter(found) if found else None


def closest(name: str, names: Sequence[str]) -> str | None:
    """The known name that is meant: the same, the same but for case and separators, or the only near one."""
    if name in names:
        return name
    plain = plain_name(name)
    if not plain or len(plain) > _LONGEST_NAME:
        return None
    same = [one for one in names if plain_name(one) in (plain, f"get{plain}")]
    if same:
        return same[0] if len(same) == 1 else None
    by_plain = {plain_name(one): one for one in names}
    near = difflib.get_close_matches(plain, by_plain, n=2, cutoff=_NEAR)
    return by_plain[near[0]] if len(near) == 1 else None


def _fit_values(value: Any, parameter: Parameter, function: str) -> tuple[list[Any], list[Dropped]]:
    """The values that fit, without repetition, and those that do not."""
    kept: list[Any] = []
    dropped: list[Dropped] = []
    for one in value if isinstance(value, list) else [value]:
        fitted = fit_value(one, parameter)
        if isinstance(fitted, Dropped):
            dropped.append(fitted._replace(function=function))
        elif fitted not in kept:
            kept.append(fitted)
    return kept, dropped


def fit_value(value: Any, parameter: Parameter) -> Any | Dropped:
    """The value in the schema's spelling: a known choice, "True"/"False" for booleans, else as it is."""
    text = value_text(value).strip()
    choices = parameter.choices()
    if text in choices or text in parameter.markers:
        return text
    if not isinstance(value, dict) and is_placeholder(text, parameter):  # an object is no "{city}"
        return Dropped("placeholder", "", parameter.name, text)
    if parameter.type == "boolean":
        plain = text.casefold()
        meant = "True" if plain in _TRUE else "False" if plain in _FALSE else None
    elif choices:
        meant = closest_choice(text, choices)
    else:
        return _suggested(text, parameter.enum) if isinstance(value, str) else value
    return meant if meant is not None else Dropped("value_not_allowed", "", parameter.name, text)


def _suggested(text: str, suggestions: Iterable[str]) -> str:
    """An open set only suggests: take over its spelling, never its choice."""
    return next((one for one in suggestions if _words(one) == _words(text)), text)


def closest_choice(text: str, choices: Sequence[str]) -> str | None:
    """The one choice that a text means, or None: "economy class" is Economy, "premium" is Premium Economy."""
    words = _words(text)
    if not words or len(text) > _LONGEST_NAME:
        return None
    same = [one for one in choices if _words(one) == words]
    if len(same) == 1:
        return same[0]
    if _NEGATION.isdisjoint(words):
        inside = [one for one in choices if _holds(words, _words(one))]
        # "premium economy seat" holds Economy and Premium Economy: the longest is meant if it holds the others
        longest = max(inside, key=lambda one: len(_words(one)), default=None)
        if longest is not None and all(_holds(_words(longest), _words(one)) for one in inside):
            return longest
        around = [one for one in choices if _holds(_words(one), words)]
        if len(around) == 1 and not inside:
            return around[0]
    return closest(text, choices) if not inside_digits(text) else None


def inside_digits(text: str) -> bool:
    """Numbers have no near misses: 12 is not a misspelt 1."""
    return any(character.isdigit() for character in text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", text.casefold()))


def _holds(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether the words stand in the longer text, next to each other."""
    size = len(shorter)
    return bool(size) and any(tuple(longer[i : i + size]) == tuple(shorter) for i in range(len(longer) - size + 1))


def is_placeholder(text: str, parameter: Parameter) -> bool:
    """Whether a value only says that there is none: "unspecified", "<city>", "your destination"."""
    plain = " ".join(text.casefold().replace("_", " ").split()).strip(" .\"'`")
    if plain in _PLACEHOLDERS or _BRACKETED.fullmatch(plain):
        return True
    if len(plain) > _LONGEST_NAME or not (owned := _OWNER.fullmatch(plain)):
        return False
    # "your destination" names the argument instead of a value; "Your Name" for a movie's name is a title
    rest = set(_words(owned[1])) - {"name"}
    return bool(rest) and rest <= _GENERIC | set(_words(parameter.name)) | set(_words(parameter.name.replace("_", " ")))
