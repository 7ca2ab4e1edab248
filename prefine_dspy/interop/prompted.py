"""The tools as the LM is asked about them: nothing forced, nested forms strict and named in the prompt."""

from __future__ import annotations

from functools import lru_cache

from prefine_dspy.interop.json_schema import Schema, constraint
from prefine_dspy.tools import Catalogue, Parameter, Tool

_KEPT_CATALOGUES = 64


def prompted(tools: Catalogue) -> Catalogue:
    """The catalogue for the prompt and the grammar.

    A required argument may be left open here: forced to answer, an LM invents; the result names what is missing.
    Equal catalogues give the same object, so that signatures built from it are built once; it holds no user's data.
    """
    return _prompted(tuple(tool.model_dump_json() for tool in tools))


@lru_cache(maxsize=_KEPT_CATALOGUES)
def _prompted(tools: tuple[str, ...]) -> Catalogue:
    return Catalogue(_tool(Tool.model_validate_json(one)) for one in tools)


def _tool(tool: Tool) -> Tool:
    return tool.model_copy(update={"parameters": tuple(_parameter(one) for one in tool.parameters)})


def _parameter(parameter: Parameter) -> Parameter:
    schema = parameter.json_schema
    changes: dict[str, object] = {"required": False}
    if schema is not None:
        strict = constraint(schema)
        # plain text needs no schema of its own: the catalogue's own rule for text is the better guard
        plain = parameter.type == "string" and not strict.keys() & {"format", "anyOf", "maxLength", "minLength"}
        changes["json_schema"] = None if plain and not _own_pattern(schema, strict) else strict
        if shape := _shape(schema):
            changes["description"] = "; ".join(one for one in (parameter.description, shape) if one)
    return parameter.model_copy(update=changes)


def _own_pattern(schema: Schema, strict: Schema) -> bool:
    return "pattern" in schema and strict.get("pattern") == schema["pattern"]


def _shape(schema: Schema) -> str:
    """What an LM that is not held to a grammar must know of a nested value."""
    if isinstance(properties := schema.get("properties"), dict) and properties:
        return f"an object with {', '.join(properties)}"
    items = schema.get("items")
    if isinstance(items, dict):
        if isinstance(enum := items.get("enum"), list):
            return f"any of {'|'.join(map(str, enum))}"
        return f"each {inner}" if (inner := _shape(items)) else ""
    return ""
