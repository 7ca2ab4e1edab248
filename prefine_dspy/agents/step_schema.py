"""A catalogue as the type of a step's action: a message to the user, or exactly one call with the arguments given."""

from __future__ import annotations

from typing import Any

from prefine_dspy.call_schema import plain_json, stated_schema
from prefine_dspy.tools import Catalogue, Tool

LONGEST_REPLY = 320
"""Characters of a message to the user: some eighty tokens."""
_LONGEST_VALUE, _MOST_ITEMS = 120, 20


def action_type(tools: Catalogue) -> type:
    """A type for `dspy.Signature.with_updated_fields("action", type_=...)`; validated values are plain JSON."""
    return plain_json("action", {"anyOf": [_REPLY, *map(_call_schema, tools)]})


def reply_type() -> type:
    """Like `action_type`, for a message only."""
    return plain_json("action", _REPLY)


def bounded(schema: Any) -> Any:
    """A schema in which every text and list ends, so that a small LM that repeats itself comes to an end, too."""
    if isinstance(schema, list):
        return [bounded(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        name: {key: bounded(one) for key, one in inner.items()}
        if name == "properties" and isinstance(inner, dict)
        else bounded(inner)
        if name in ("items", "anyOf", "oneOf")
        else inner
        for name, inner in schema.items()
    }
    if schema.get("type") == "string" and not {"enum", "const", "pattern", "format"} & schema.keys():
        found.setdefault("maxLength", _LONGEST_VALUE)
    if schema.get("type") == "array":
        found.setdefault("maxItems", _MOST_ITEMS)
    return found


def _call_schema(tool: Tool) -> dict[str, Any]:
    arguments = {
        "type": "object",
        "properties": {one.name: bounded(stated_schema(one)) for one in tool.parameters},
        "required": [one.name for one in tool.parameters if one.required],
        "additionalProperties": False,
    }
    return _object({"function": {"type": "string", "const": tool.name}, "arguments": arguments})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_REPLY = _object({"reply": {"type": "string", "minLength": 1, "maxLength": LONGEST_REPLY}})
