"""Are the values of a call to be found in what the LM read?

A small model that must decide every argument invents names ("The Hangover"). Names and other open values cannot be
inferred, only read; so they must occur in the query or the memory, and arguments that say what is done this once
(dates, places) in the query itself. Members of a closed set and bare numbers may be inferred from a preference and are
not judged here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from prefine_dspy.tools import Catalogue, Parameter
from prefine_dspy.types import ToolCall, value_text

# Thai, Lao, Khmer, kana and Chinese characters: their words are not set apart by blanks
_UNSPACED = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# the letters of 2026-03-09T10:00:00Z are not words
_ISO_LETTERS = re.compile(r"(?<=\d)[tz](?=\d|\b)")


def ungrounded(call: ToolCall, tools: Catalogue, query: str, memory: str) -> list[str]:
    """The arguments whose open values occur neither in the query nor, unless transient, in the memory.

    Args:
        call: fits the catalogue.
        tools: tells closed from open and transient from lasting arguments.
        query: the conversation as the LM read it.
        memory: the memory as the LM read it.
    """
    tool = tools.get(call.name)
    if tool is None:
        return []
    asked, remembered = _plain(query), _plain(memory)
    found = []
    for name, value in call.arguments.items():
        parameter = tool.parameter(name)
        if parameter is None or parameter.choices() or value in parameter.markers:
            continue
        readable = asked if parameter.transient else f"{asked} {remembered}"
        if not all(_occurs(one, parameter, readable) for one in _open_values(value, parameter.json_schema or {})):
            found.append(name)
    return found


def _open_values(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """The texts and numbers inside a value, without those that its schema takes from a closed set."""
    branches = schema.get("anyOf")
    options = [one for one in branches if isinstance(one, dict)] if isinstance(branches, list) else [schema]
    if value is None or isinstance(value, bool) or any("enum" in one or "const" in one for one in options):
        return
    if isinstance(value, dict):
        named = [one["properties"] for one in options if isinstance(one.get("properties"), dict)]
        for name, one in value.items():
            yield from _open_values(one, next((inner[name] for inner in named if name in inner), {}))
    elif isinstance(value, list):
        items: dict[str, Any] = next((one["items"] for one in options if isinstance(one.get("items"), dict)), {})
        for one in value:
            yield from _open_values(one, items)
    else:
        yield value_text(value)


def _occurs(value: str, parameter: Parameter, text: str) -> bool:
    plain = _plain(value)
    if parameter.transient:
        plain = _ISO_LETTERS.sub(" ", plain)
    if _UNSPACED.search(plain):
        return plain in text
    if any(character.isalpha() for character in plain):
        return f" {plain} " in f" {text} "
    if not parameter.transient:
        return True
    # A date or time may be written in another form than it was said in ("March 9th"); one of its numbers must be there,
    # unless the user gave no number at all ("tomorrow at noon").
    said = {number.lstrip("0") for number in re.findall(r"\d+", text)}
    return not said or any(number.lstrip("0") in said for number in re.findall(r"\d+", plain))


def _plain(text: str) -> str:
    """Lower case, without accents' compositions and punctuation, words apart by one blank."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded.replace("_", " ")))
