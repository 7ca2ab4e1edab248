"""Groundings as one line of text, read and written.

reservation R42.cabin != basic_economy
reservation R42.created_at >= 2024-05-14T15:00:00 or cabin == business or insurance == yes
any product P7.variants: options.backlight == none and available == true
all restaurant: rating >= 4
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from prefine_dspy.situation.comparison import OPERATORS
from prefine_dspy.situation.grounding import Grounding, Test
from prefine_dspy.situation.identity import scalar_text

_ALIASES = {"=": "==", "is": "==", "is not": "!=", "<>": "!=", "≠": "!=", "≥": ">=", "≤": "<=", "=<": "<=", "=>": ">="}
_OPERATOR = re.compile(
    r"\s*(==|!=|<>|<=|>=|=<|=>|≠|≥|≤|=|<|>)\s*|\s+(is not|is|not in|in|contains|matches)\s+|\s+(exists)\s*$",
    re.IGNORECASE,
)
_QUANTIFIED = re.compile(r"(any|some|all|every)\s+(.+?)\s*:\s+(.+)", re.IGNORECASE | re.DOTALL)
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
_JOIN = re.compile(rf"({_STRING}|\[(?:{_STRING}|[^\]\"'])*\])|\s+(and|or|&&|\|\|)\s+", re.IGNORECASE)
_ELEMENT = re.compile(rf"\s*({_STRING}|[^,]+?)\s*(?:,|$)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_WORDS: dict[str, Any] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_LONGEST = 1_000


def read_condition(text: str) -> Grounding | None:
    """The grounding that a line says; None if it says none that code can check (mixed "and" and "or" included)."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    quantified = _QUANTIFIED.fullmatch(text)
    parts, join = _parts(quantified[3] if quantified else text)
    tests = [_test(part) for part in parts]
    if join is None or not tests or None in tests:
        return None
    known = [test for test in tests if test is not None]
    if quantified:
        type, id, over = _subject(quantified[2])
        quantifier: Literal["any", "all"] = "any" if quantified[1].casefold() in ("any", "some") else "all"
        return Grounding(type=type, id=id, over=over, quantifier=quantifier, join=join, tests=tuple(known))
    type, id, attribute = _subject(known[0].attribute)
    if not id or not attribute:
        return None
    # later tests may name the same entity again, or leave it out
    named = f"{type} {id}.".lstrip()
    bare = [test.model_copy(update={"attribute": test.attribute.removeprefix(named)}) for test in known]
    return Grounding(
        type=type, id=id, join=join, tests=(known[0].model_copy(update={"attribute": attribute}), *bare[1:])
    )


def condition_text(grounding: Grounding) -> str:
    """The line that `read_condition` reads back."""
    tests = [f"{test.attribute} {_compared(test)}" for test in grounding.tests]
    named = f"{grounding.type} {grounding.id}".strip()
    joined = f" {grounding.join} ".join(tests)
    if grounding.id and not grounding.over:
        return f"{named}.{joined}"
    return f"{grounding.quantifier} {named}{'.' if grounding.over else ''}{grounding.over}: {joined}"


def _compared(test: Test) -> str:
    return test.operator if test.operator == "exists" else f"{test.operator} {_literal(test.value)}"


def _parts(text: str) -> tuple[list[str], Any]:
    """The comparisons of a line and what joins them; None where both "and" and "or" do."""
    parts, joins, start = [], set(), 0
    for found in _JOIN.finditer(text):
        if found[2]:
            parts.append(text[start : found.start()])
            joins.add("and" if found[2].casefold() in ("and", "&&") else "or")
            start = found.end()
    parts.append(text[start:])
    return parts, None if len(joins) > 1 else next(iter(joins), "and")


def _test(part: str) -> Test | None:
    found = _OPERATOR.search(part)
    if found is None or not part[: found.start()].strip():
        return None
    word = (found[1] or found[2] or found[3]).casefold()
    operator = _ALIASES.get(word, word)
    value = part[found.end() :].strip()
    if operator not in OPERATORS or (operator != "exists" and not value):
        return None
    attribute = part[: found.start()].strip()
    return Test(attribute=attribute, operator=operator, value=None if operator == "exists" else _value(value))


def _subject(text: str) -> tuple[str, str, str]:
    """`reservation R42.cabin` -> ("reservation", "R42", "cabin"); a single word before the dot is an id."""
    before, _, path = text.strip().partition(".")
    type, blank, id = before.strip().partition(" ")
    if blank:
        return type, id.strip(), path
    return ("", type, path) if path else (type, "", "")


def _value(text: str) -> Any:
    if text[:1] == "[" and text[-1:] == "]":
        return [_value(part) for part in _ELEMENT.findall(text[1:-1])]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return _unquoted(text)
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text)) if text[0] == '"' else text[1:-1]
    except ValueError:
        return text[1:-1]


def _literal(value: Any) -> str:
    """A value so that it reads back: text that looks like something else in quotes."""
    if isinstance(value, list):
        return "[" + ", ".join(_literal(one) for one in value) + "]"
    if not isinstance(value, str):
        return scalar_text(value)
    plain = value and not re.search(r"[\"'\[\],]|\s(and|or|&&|\|\|)\s", value) and value == " ".join(value.split())
    return value if plain and _value(value) == value and not _OPERATOR.search(f" {value} ") else json.dumps(value)
