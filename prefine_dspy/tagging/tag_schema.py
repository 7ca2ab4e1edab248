"""A catalogue and a sentence as the type of a tagger's answer: functions, their arguments, words of the sentence.

    [{"GetRestaurants":[{"cuisine":"Thai"},{"price_range":"cheap"}]}]

Objects of one key each are the shortest form that every provider's structured output takes: no key is optional, and
slots come in the order in which they are said. Values are phrases of the sentence, so that a small LM can neither
misspell nor invent one.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from prefine_dspy.call_schema import TEXT_VALUE
from prefine_dspy.tools import Catalogue

LONGEST_PHRASE = 9
"""Words; the longest value in the published hand tags has nine."""
_MOST_PHRASES = 250
_MOST_ACTIONS = 4
_MOST_SLOTS = 8
_EDGES = " .,;:!?\"'“”‘’()[]{}<>"


def phrases(text: str) -> list[str]:
    """The runs of up to `LONGEST_PHRASE` words of a text, without punctuation at their edges, each once."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    found: dict[str, None] = {}
    for at, (start, _) in enumerate(spans):
        for _, end in spans[at : at + LONGEST_PHRASE]:
            phrase = text[start:end].strip(_EDGES)
            if any(character.isalnum() for character in phrase):
                found.setdefault(phrase)
    return list(found)


def tags_type(tools: Catalogue, text: str) -> type:
    """A type for `dspy.Signature.with_updated_fields("tags", type_=...)`; validated values are plain JSON.

    A long text (a dialogue of a hundred words) has too many phrases for a grammar: there any short text is allowed.
    """
    choices = phrases(text)

    class Tags:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            return core_schema.any_schema()

        @classmethod
        def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
            value: dict[str, Any] = {"type": "string", "pattern": TEXT_VALUE}
            if 0 < len(choices) <= _MOST_PHRASES:
                # written once and referred to by every argument; pydantic makes a definition of an inner schema only
                value = handler(core_schema.list_schema(core_schema.literal_schema(choices, ref="phrase")))["items"]
            actions = [_one_key(tool.name, _list(_slots(tool.parameters, value), _MOST_SLOTS)) for tool in tools]
            return _list(actions, _MOST_ACTIONS)

    Tags.__qualname__ = Tags.__name__ = "tags"
    return Tags


def _slots(parameters: Any, value: dict[str, Any]) -> list[dict[str, Any]]:
    return [_one_key(parameter.name, value) for parameter in parameters]


def _list(options: list[dict[str, Any]], most: int) -> dict[str, Any]:
    if not options:  # a function without arguments
        return {"type": "array", "items": {"type": "string"}, "maxItems": 0}
    return {"type": "array", "items": {"anyOf": options}, "maxItems": most}


def _one_key(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": False}
