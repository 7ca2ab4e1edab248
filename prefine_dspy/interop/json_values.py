"""Values back in their JSON types: an LM's choice "True" is sent as true, "2" as 2 where the schema says integer."""

from __future__ import annotations

import json
import re
from typing import Any

from prefine_dspy.interop.json_schema import Schema, not_null
from prefine_dspy.interop.parameters import schema_of
from prefine_dspy.tools import Catalogue, Parameter
from prefine_dspy.types import ToolCall, value_text

_INTEGER, _NUMBER = re.compile(r"[+-]?\d{1,18}(\.0+)?"), re.compile(r"[+-]?\d{1,18}(\.\d+)?([eE][+-]?\d{1,2})?")
_WORDS = {"true": True, "false": False}


class Misfit(ValueError):
    """A value that cannot be what the schema asks for."""


def typed_call(call: ToolCall, tools: Catalogue) -> tuple[ToolCall, list[str]]:
    """The call with every value in its JSON type, and the arguments that were left out because they cannot be.

    Args:
        call: fits the catalogue by names; arguments that the catalogue does not know stay as they are.
    """
    tool = tools.get(call.name)
    arguments: dict[str, Any] = {}
    misfits: list[str] = []
    for name, value in call.arguments.items():
        parameter = tool.parameter(name) if tool else None
        try:
            arguments[name] = value if parameter is None else typed(value, parameter)
        except Misfit:
            misfits.append(name)
    return ToolCall(name=call.name, arguments=arguments), misfits


def typed(value: Any, parameter: Parameter) -> Any:
    """The value in the parameter's type.

    Raises:
        Misfit: it has no reading in that type, or is outside the schema's limits.
    """
    schema = schema_of(parameter)
    if isinstance(value, list) and parameter.type not in ("array", "object") and parameter.json_schema is None:
        return [_cast(one, schema) for one in value]  # MPT's calls may give an argument several times
    cast = _cast(value, schema)
    if parameter.json_schema is not None and not _valid(cast, schema):
        raise Misfit
    return cast


def _cast(value: Any, schema: Schema) -> Any:
    if "const" in schema or isinstance(schema.get("enum"), list):
        return _member(value, schema["enum"] if "enum" in schema else [schema["const"]])
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return _first_fit(value, [one for one in branches if isinstance(one, dict)])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return _first_fit(value, [{**schema, "type": kind} for kind in kinds])
    match kinds:
        case "boolean":
            return _boolean(value)
        case "integer" | "number":
            return _number(value, kinds)
        case "array":
            return _array(value, schema)
        case "object":
            return _object(value, schema)
        case "null":
            return _member(value, [None])
        case "string":
            return value_text(value)
    return value


def _member(value: Any, members: list[Any]) -> Any:
    for one in members:
        if value_text(one).casefold() == value_text(value).casefold():
            return one
    raise Misfit


def _first_fit(value: Any, branches: list[Schema]) -> Any:
    """The branch that takes the value unchanged, else the first that can take it."""
    found = []
    for branch in branches:
        try:
            cast = _cast(value, branch)
        except Misfit:
            continue
        if type(cast) is type(value) and cast == value:
            return cast
        found.append(cast)
    if not found:
        raise Misfit
    return found[0]


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value_text(value).casefold() not in _WORDS:
        raise Misfit
    return _WORDS[value_text(value).casefold()]


def _number(value: Any, kind: str) -> int | float:
    text = value_text(value).strip()
    if isinstance(value, bool) or not (_INTEGER if kind == "integer" else _NUMBER).fullmatch(text):
        raise Misfit
    if kind == "integer":
        return int(text.partition(".")[0])
    return float(text) if re.search(r"[.eE]", text) else int(text)


def _array(value: Any, schema: Schema) -> list[Any]:
    value = _decoded(value, list)
    values = value if isinstance(value, list) else [value]
    items = schema.get("items")
    return [_cast(one, items) for one in values] if isinstance(items, dict) else list(values)


def _object(value: Any, schema: Schema) -> dict[str, Any]:
    value = _decoded(value, dict)
    if not isinstance(value, dict):
        raise Misfit
    properties = schema.get("properties") or {}
    required = schema.get("required") or ()
    found: dict[str, Any] = {}
    for name, one in value.items():
        inner = properties.get(name)
        if one is None and name not in required:
            continue  # the strict form makes an LM write null for what it leaves out
        found[name] = _cast(one, not_null(inner) if one is not None else inner) if isinstance(inner, dict) else one
    return found


def _decoded(value: Any, kind: type) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return decoded if isinstance(decoded, kind) else value
    return value


def _valid(value: Any, schema: Schema) -> bool:
    """Whether limits and patterns are met too. A foreign schema that cannot be checked refuses nothing."""
    from jsonschema import Draft202012Validator

    try:
        return bool(Draft202012Validator(schema).is_valid(value))
    except Exception:  # noqa: BLE001 - broken patterns and references of other people's schemas, in many types
        return True
