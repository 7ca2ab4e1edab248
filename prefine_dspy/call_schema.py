"""A catalogue as the type of an LM's answer: its JSON schema constrains, its validator tolerates.

Every argument of the chosen function is decided explicitly, "unspecified" being one of the choices: a free list of
name/value pairs makes small models fill arguments with placeholders.
"""

from __future__ import annotations

from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from prefine_dspy.tools import Catalogue, Parameter, Tool

UNSPECIFIED = "unspecified"
# No leading punctuation: where a model would write a bare number, the forced quotation mark makes it pick the token
# `",` and go on with `,5`. At most 80 characters, so that a runaway value ends.
TEXT_VALUE = r"^[^ ,.;:<>=~!?*].{0,79}$"


def call_type(tools: Catalogue) -> type:
    """A type for `dspy.Signature.with_updated_fields("call", type_=...)`; validated values are plain JSON."""
    return plain_json("call", {"anyOf": [_call_schema(tool) for tool in tools]})


def plain_json(name: str, schema: dict[str, Any]) -> type:
    """A type that constrains an LM by a JSON schema and takes any value: what comes is read tolerantly elsewhere."""

    class Answer:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            return core_schema.any_schema()

        @classmethod
        def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
            return schema

    Answer.__qualname__ = Answer.__name__ = name
    return Answer


def calls_type(tools: Catalogue, at_most: int = 4) -> type:
    """Like `call_type`, for one to `at_most` calls of which each holds the arguments that are given, in the catalogue's
    order, and no others: for LMs with demonstrations, to whom "unspecified" would only be long."""
    items = [_call_schema(tool, stated_only=True) for tool in tools]
    schema = {"type": "array", "items": {"anyOf": items}, "minItems": 1, "maxItems": at_most}
    return plain_json("calls", schema)


def _call_schema(tool: Tool, stated_only: bool = False) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "function": {"type": "string", "const": tool.name},
            "arguments": {
                "type": "object",
                "properties": {
                    one.name: (stated_schema if stated_only else value_schema)(one) for one in tool.parameters
                },
                "required": [one.name for one in tool.parameters if not stated_only or one.required],
                "additionalProperties": False,
            },
        },
        "required": ["function", "arguments"],
        "additionalProperties": False,
    }


def value_schema(parameter: Parameter) -> dict[str, Any]:
    """What may stand at an argument's place: a closed set, a JSON type or short text; "unspecified" unless required."""
    value = stated_schema(parameter)
    if parameter.required or value.get("pattern") == TEXT_VALUE:
        return value
    if "enum" in value:
        return {"type": "string", "enum": [*value["enum"], UNSPECIFIED]}
    return {"anyOf": [value, {"type": "string", "const": UNSPECIFIED}]}


def stated_schema(parameter: Parameter) -> dict[str, Any]:
    """What may stand at the place of a given argument: a closed set, a JSON type, short text, or a marker."""
    markers = [*parameter.markers]
    if choices := parameter.choices():
        return {"type": "string", "enum": [*choices, *markers]}
    if parameter.json_schema is not None:
        value = parameter.json_schema
    elif parameter.type == "string":
        value = {"type": "string", "pattern": TEXT_VALUE}
    else:
        value = {"type": parameter.type}
    return {"anyOf": [value, {"type": "string", "enum": markers}]} if markers else value
