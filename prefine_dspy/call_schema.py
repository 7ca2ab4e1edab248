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
    schema = {"anyOf": [_call_schema(tool) for tool in tools]}

    class Call:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            return core_schema.any_schema()

        @classmethod
        def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
            return schema

    Call.__qualname__ = Call.__name__ = "call"
    return Call


def _call_schema(tool: Tool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "function": {"type": "string", "const": tool.name},
            "arguments": {
                "type": "object",
                "properties": {parameter.name: value_schema(parameter) for parameter in tool.parameters},
                "required": [parameter.name for parameter in tool.parameters],
                "additionalProperties": False,
            },
        },
        "required": ["function", "arguments"],
        "additionalProperties": False,
    }


def value_schema(parameter: Parameter) -> dict[str, Any]:
    """What may stand at an argument's place: a closed set, a JSON type or short text; "unspecified" unless required."""
    if choices := parameter.choices():
        return {"type": "string", "enum": [*choices] if parameter.required else [*choices, UNSPECIFIED]}
    if parameter.json_schema is not None:
        value = parameter.json_schema
    elif parameter.type == "string":
        return {"type": "string", "pattern": TEXT_VALUE}
    else:
        value = {"type": parameter.type}
    return value if parameter.required else {"anyOf": [value, {"type": "string", "const": UNSPECIFIED}]}
