"""A JSON schema of arguments as `Parameter`s. Details that a Parameter has no word for stay in its `json_schema`."""

from __future__ import annotations

from typing import Any, get_args

from prefine_dspy.errors import InputError
from prefine_dspy.interop.json_schema import Schema, inlined, not_null
from prefine_dspy.interop.transience import is_transient
from prefine_dspy.tools import Parameter, Tool
from prefine_dspy.types import value_text

_TYPES = frozenset(get_args(Parameter.model_fields["type"].annotation))
_SAID = frozenset({"type", "description", "title"})
_LONGEST_DESCRIPTION = 500


def tool_from_schema(name: Any, description: Any, schema: Any) -> Tool:
    """A tool from its name, description and the JSON schema of its arguments object.

    Raises:
        InputError: it has no name, or its schema is not that of an object.
    """
    if not isinstance(name, str) or not name:
        raise InputError("a tool has no name: give every tool definition a 'name'")
    schema = {} if schema is None else schema
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise InputError(f"tool {name}: its parameters must be a JSON schema of type object")
    whole = inlined(schema)
    required = whole.get("required") or ()
    properties = whole.get("properties") or {}
    if not isinstance(properties, dict) or not isinstance(required, list | tuple):
        raise InputError(f"tool {name}: 'properties' must be an object and 'required' a list of names")
    parameters = tuple(_parameter(str(key), one, key in required) for key, one in properties.items())
    return Tool(name=name, description=one_line(description), parameters=parameters)


def _parameter(name: str, schema: Schema, required: bool) -> Parameter:
    plain = not_null(schema)
    kind = _type(plain)
    members = plain["enum"] if isinstance(plain.get("enum"), list) else [plain["const"]] if "const" in plain else []
    detailed = bool(plain.keys() - _SAID - {"enum"}) or any(not isinstance(one, str) for one in members)
    return Parameter(
        name=name,
        type=kind,
        description=one_line(plain.get("description")),
        enum=tuple(value_text(one) for one in members) if kind not in ("array", "object") else (),
        transient=is_transient(name, plain),
        required=required,
        json_schema=plain if detailed else None,
    )


def _type(schema: Schema) -> Any:
    """The JSON type; of several the first, as a Parameter has one (`json_schema` keeps them all)."""
    kinds = schema.get("type")
    if not kinds:
        branches = schema.get("anyOf") or schema.get("oneOf") or [{}]
        kinds = next((one["type"] for one in branches if isinstance(one, dict) and one.get("type")), None)
    if not kinds and ("properties" in schema or "items" in schema):
        kinds = "object" if "properties" in schema else "array"
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    return kind if isinstance(kind, str) and kind in _TYPES else "string"


def one_line(text: Any) -> str:
    """A description as one line of a prompt."""
    return " ".join(text.split())[:_LONGEST_DESCRIPTION] if isinstance(text, str) else ""


def schema_of(parameter: Parameter) -> Schema:
    """The whole JSON schema of a parameter's value."""
    if parameter.json_schema is not None:
        return parameter.json_schema
    schema: Schema = {"type": parameter.type}
    if parameter.enum and not parameter.open and parameter.type == "string":
        schema["enum"] = list(parameter.enum)
    return schema
