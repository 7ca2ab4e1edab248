"""The published MPT evaluator's behaviour, for numbers beside the paper. Written anew from a description of it.

It is lenient in some places and harsh in others (a closing parenthesis inside a value ends the call, the year of a
date is dropped, `number_of_days` is read as a date, a quoted "true" is not True ...). Every such oddity is kept:
they move the paper's numbers. Do not repair anything here; `eval.metrics.slots` is the scorer without them.

Gold and prediction go through the same reader, in three steps: clean the text, find calls (as JSON, else as call
text), split their arguments. Dates and times are normalised with dateparser, whose version changes scores; what
"today" is must be given, so that a score does not depend on the day it is computed.

Every pattern here takes linear time: predictions are hostile input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from eval.metrics.counts import Counts, ItemScore, PreferenceSlots, is_preference
from prefine_dspy.errors import MissingExtra

DEFAULT_TODAY = datetime(2026, 6, 15, 12)
"""The day relative dates are read from unless another is given: fixed, so that a score can be reproduced."""

Triple = tuple[str, str, str]
"""(function, argument, value)"""

_NAME = r"[A-Za-z_]\w*+"

# ------------------------------------------------------------------------------------------------ cleaning the text

_THINK_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
_BRACED_NAME = re.compile(rf"\{{({_NAME})\}}\s*+\(")
_BRACED_LIST = re.compile(rf"""\{{\s*+["']({_NAME})["']\s*+,(.*)\}}""", re.DOTALL)
_BOLD_NAME = re.compile(rf"\*\*({_NAME})\*\*\s*+\(")
_BRACED_QUOTED_NAME = re.compile(rf"""\{{\s*+["']({_NAME})["']\s*+[}}:]?\s*+\(""")
_QUOTED_ARGUMENT = re.compile(rf"""["']({_NAME})["']\s*+=""")
_CALL_HEAD = re.compile(rf"\{{?\s*+{_NAME}\s*+\(")


def _clean(text: str) -> str:
    """The text without reasoning, fences and name decorations. The order of the steps matters."""
    text = _FENCE.sub("", _without_thinking(text.strip())).strip()
    text = _BRACED_NAME.sub(r"\1(", text)
    wrapped = _BRACED_LIST.fullmatch(text)
    if wrapped and "=" in wrapped[2]:
        text = f"{wrapped[1]}({wrapped[2].strip()})"
    text = _BOLD_NAME.sub(r"\1(", text)
    text = _BRACED_QUOTED_NAME.sub(r"\1(", text)
    text = _QUOTED_ARGUMENT.sub(r"\1=", text)
    return _with_missing_parenthesis(text.strip())


def _without_thinking(text: str) -> str:
    """Closed think blocks go, then stray closing tags; an unclosed block stays, calls in it included."""
    kept: list[str] = []
    position, opened = 0, -1
    for tag in _THINK_TAG.finditer(text):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
        elif opened >= 0:
            kept.append(text[position:opened])
            position, opened = tag.end(), -1
    kept.append(text[position:])
    return _THINK_TAG.sub(lambda tag: "" if tag[1] else tag[0], "".join(kept))


def _with_missing_parenthesis(text: str) -> str:
    """`{Name(a="b"}` gets its closing parenthesis; no other cut-off call is repaired."""
    if not text.endswith("}") or not _CALL_HEAD.match(text):
        return text
    open_now = sum((c == "(") - (c == ")") for _, c in _unquoted(text))
    return f"{text[:-1]})}}" if open_now == 1 else text


def _unquoted(text: str) -> Iterator[tuple[int, str]]:
    """(position, character) of everything outside quotes; a backslash shields the character after it."""
    quote, shielded = "", False
    for position, character in enumerate(text):
        if shielded:
            shielded = False
        elif character == "\\":
            shielded = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            yield position, character


# ---------------------------------------------------------------------------------------------------- finding calls

_WORD_AND_PARENTHESIS = re.compile(r"(?<!\w)\w++\s*+\(")
_NAME_START = re.compile(r"[A-Za-z_]")
_WHOLE_CALL = re.compile(rf"\s*+({_NAME})\s*+\((.*)\)\s*")

_NAME_KEYS = ("name", "tool", "function", "domain")
_ARGUMENT_KEYS = ("arguments", "args", "parameters")
_NEVER_ARGUMENTS = {*_NAME_KEYS, "reasoning", "raw_content", "model_name", "evaluation_result", "reasoning_tokens"}


def call_strings(field: object) -> list[str]:
    """The calls of a gold or prediction field, as text. A list is read entry by entry; only text gives calls."""
    if isinstance(field, list | tuple):
        return [call for entry in field if isinstance(entry, str) for call in call_strings(entry)]
    if not isinstance(field, str):
        return []
    text = _clean(field)
    if not text:
        return []
    try:
        calls = list(_json_calls(json.loads(text)))
    except (ValueError, RecursionError):
        calls = []
    return calls or list(_calls_in_text(text))


def _calls_in_text(text: str) -> Iterator[str]:
    """Whatever looks like `name(...)` up to the first closing parenthesis on the same line, in prose too."""
    position = 0
    closing = newline = -1
    while head := _WORD_AND_PARENTHESIS.search(text, position):
        start, inside = _NAME_START.search(text, head.start(), head.end()), head.end()
        # both searches are remembered: a line of a million opening parentheses must not be searched a million times
        closing = _next(text, ")", inside, closing)
        newline = _next(text, "\n", inside, newline)
        position = inside
        if start and closing < len(text) and closing < newline:
            yield text[start.start() : closing + 1]
            position = closing + 1


def _next(text: str, character: str, position: int, known: int) -> int:
    """Where the character stands next at or after a position (the text's length if nowhere)."""
    if known >= position:
        return known
    found = text.find(character, position)
    return len(text) if found < 0 else found


def _json_calls(value: object) -> Iterator[str]:
    """The calls of a decoded JSON value, turned back into call text."""
    if isinstance(value, list):
        for element in value:
            yield from _json_calls(element)
    elif isinstance(value, dict):
        if isinstance(value.get("calls"), list):
            yield from _json_calls(value["calls"])
        else:
            yield from _json_object_calls(value)


def _json_object_calls(value: dict[str, Any]) -> Iterator[str]:
    by_lower = {key.lower(): key for key in value}
    name_key = next((by_lower[key] for key in _NAME_KEYS if key in by_lower), None)
    argument_key = next((by_lower[key] for key in _ARGUMENT_KEYS if key in by_lower), None)
    others = {key: one for key, one in value.items() if key.lower() not in _NEVER_ARGUMENTS}
    if name_key is None:
        for function, arguments in others.items():
            yield from _json_keyed_calls(function, arguments)
    elif isinstance(value[name_key], str):
        arguments = others if argument_key is None else value[argument_key]
        yield _call_text(value[name_key], arguments if isinstance(arguments, dict) else {})


def _json_keyed_calls(function: str, arguments: object) -> Iterator[str]:
    """`{"Name": {...}}`; a value that is no object becomes an argument called "value"."""
    if isinstance(arguments, dict):
        yield _call_text(function, arguments)
    elif arguments is None:
        yield _call_text(function, {})
    elif isinstance(arguments, list) and arguments and all(isinstance(one, dict) for one in arguments):
        for one in arguments:
            yield _call_text(function, one)
    else:
        yield _call_text(function, {"value": arguments})


def _call_text(function: str, arguments: dict[str, Any]) -> str:
    """Values in Python's text form between double quotes, nothing escaped; null is left out."""
    inside = ", ".join(f'{key}="{value}"' for key, value in arguments.items() if value is not None)
    return f"{function}({inside})"


# -------------------------------------------------------------------------------------------- arguments and values


def call_triples(call: str, today: datetime = DEFAULT_TODAY) -> list[Triple]:
    """The (function, argument, value) of one call string, in order, values normalised."""
    whole = _WHOLE_CALL.fullmatch(call)
    if not whole:
        return []
    function, inside = whole[1], whole[2]
    triples: list[Triple] = []
    for part in _split_at_commas(inside):
        argument, equals, value = part.partition("=")
        if equals:
            argument = argument.strip()
            triples.append((function, argument, normal_value(argument, _bare(value.strip()), today)))
    return triples


def _split_at_commas(text: str) -> Iterator[str]:
    start = 0
    for position, character in _unquoted(text):
        if character == ",":
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _bare(value: str) -> str:
    """One pair of quotes is taken off; only an unquoted boolean is unified."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.capitalize() if value.lower() in ("true", "false") else value


_DIGIT = re.compile(r"\d")
_TIMESTAMP = re.compile(r"(\d{10})(\d{3})?(\d{3})?")
_ISO_DATE = re.compile(r"([1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])")
_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_LONGEST_DATE = 128  # characters; dateparser takes seconds on longer text and finds no date in it


def normal_value(argument: str, value: str, today: datetime = DEFAULT_TODAY) -> str:
    """Times as HH:MM and dates as MM-DD, decided by letters in the argument's name; the rest unchanged."""
    name = argument.lower()
    if "time" in name:
        if not _DIGIT.search(value) or _CLOCK.fullmatch(value):
            return value
        return _dateparsed(value, "%H:%M", today)
    if "date" in name or "day" in name:
        iso = _ISO_DATE.fullmatch(
            value
        )  # what nearly all gold holds, read as dateparser reads it, a hundred times faster
        return f"{iso[2]}-{iso[3]}" if iso else _dateparsed(value, "%m-%d", today)
    return value


@lru_cache(maxsize=100_000)
def _dateparsed(value: str, form: str, today: datetime) -> str:
    """The value as dateparser understands it, or unchanged. Missing parts come from today, the future is preferred."""
    if len(value) > _LONGEST_DATE:
        return value
    parser = _dateparser()
    if stamp := _TIMESTAMP.fullmatch(value):  # dateparser would read it in the machine's time zone
        return datetime.fromtimestamp(int(stamp[1]), tz=UTC).strftime(form)
    settings = {"PREFER_DATES_FROM": "future", "STRICT_PARSING": False, "RELATIVE_BASE": today}
    try:
        found = parser.parse(value, settings=settings)
        return found.strftime(form) if found else value
    except Exception:  # noqa: BLE001 - any failure inside dateparser means "not a date", as published
        return value


@lru_cache(maxsize=1)
def _dateparser() -> Any:
    try:
        import dateparser
    except ImportError:
        # scoring on without it would silently change scores
        raise MissingExtra("the reference scorer (dates are read with dateparser)", "eval") from None
    return dateparser


def dateparser_version() -> str:
    """To be reported with every reference score: it changes scores."""
    return str(_dateparser().__version__)


# -------------------------------------------------------------------------------------------------------- counting


class ReadField(NamedTuple):
    """A gold or prediction field as the evaluator reads it."""

    calls: list[str]
    triples: list[Triple]

    @classmethod
    def of(cls, field: object, today: datetime = DEFAULT_TODAY) -> ReadField:
        calls = call_strings(field)
        return cls(calls, [triple for call in calls for triple in call_triples(call, today)])

    def functions(self) -> set[str]:
        return {whole[1] if (whole := _WHOLE_CALL.fullmatch(call)) else call.partition("(")[0] for call in self.calls}


def score_item(
    gold: object,
    prediction: object,
    preference_slots: PreferenceSlots,
    today: datetime = DEFAULT_TODAY,
) -> ItemScore:
    """Score one record as the published evaluator does.

    Args:
        gold: call text or a list of call texts; several values for one argument mean that any of them is right.
        prediction: the LM's text, or a list of texts.
        preference_slots: must not be empty, else P-EM would be 1 everywhere.
        today: where relative dates and missing parts of a date are read from.

    Raises:
        MissingExtra: dateparser is not installed.
    """
    if not preference_slots:
        raise ValueError("the preference slots are empty: pass eval.data.catalogue.preference_slots()")
    _dateparser()
    wanted, given = ReadField.of(gold, today), ReadField.of(prediction, today)
    right, given_values = _values_by_slot(wanted.triples), _values_by_slot(given.triples)
    pref_slots = {slot for slot in (*right, *given_values) if is_preference(*slot, preference_slots)}
    pref = _count(right, given_values, pref_slots)
    nonpref = _count(right, given_values, {*right, *given_values} - pref_slots)
    return ItemScore(
        overall=Counts(*(a + b for a, b in zip(pref, nonpref, strict=True))),
        pref=pref,
        nonpref=nonpref,
        pref_exact_match=not pref.fp and not pref.fn,
        function_right=given.functions() == wanted.functions(),
        abstained=bool(given.calls) and not given.triples,
        parse_failed=not given.calls,
        predicted_arguments=len(given_values),
        gold_arguments=len(right),
        gold_preferences=len(pref_slots & set(right)),
    )


def _values_by_slot(triples: Sequence[Triple]) -> dict[tuple[str, str], set[str]]:
    values: dict[tuple[str, str], set[str]] = {}
    for function, argument, value in triples:
        values.setdefault((function, argument), set()).add(value)
    return values


def _count(
    gold: dict[tuple[str, str], set[str]], given: dict[tuple[str, str], set[str]], slots: Iterable[tuple[str, str]]
) -> Counts:
    """A slot is right if gold and prediction share a value, however many values either has."""
    tp = fp = fn = 0
    for slot in slots:
        shared = not gold.get(slot, set()).isdisjoint(given.get(slot, set()))
        tp += shared
        fn += slot in gold and not shared
        fp += slot in given and not shared
    return Counts(tp, fp, fn)
