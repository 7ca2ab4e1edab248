"""Python functions: annotations become the schema, the docstring becomes the descriptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import Field, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from prefine_dspy.errors import InputError
from prefine_dspy.interop.parameters import tool_from_schema
from prefine_dspy.tools import Tool

_SECTION = re.compile(r"^\s*(args|arguments|parameters|params)\s*:?\s*$", re.IGNORECASE)
_OTHER_SECTION = re.compile(r"^\s*(returns?|raises|yields?|examples?|notes?|attributes)\s*:?\s*$", re.IGNORECASE)
_ARGUMENT = re.compile(r"^\s*\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(\S.*)$")
_SPHINX = re.compile(r"^\s*:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


def from_function(function: Callable[..., Any]) -> Tool:
    """The tool of a function (sync or async, or a method): its name, its docstring's first paragraph, its parameters.

    Raises:
        InputError: a parameter's annotation has no JSON form.
    """
    name = getattr(function, "__name__", type(function).__name__)
    summary, described = read_docstring(inspect.getdoc(function) or "")
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        annotation = _hints(function).get(parameter.name, Any)
        # An alias, as pydantic refuses some names for fields ("_x", "schema"); the tool keeps the real one.
        about: dict[str, Any] = {"description": described[parameter.name]} if parameter.name in described else {}
        fields[f"p{len(fields)}"] = (annotation, Field(default, alias=parameter.name, **about))
    try:
        schema = create_model("Arguments", **fields).model_json_schema(by_alias=True)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise InputError(f"{name}: an annotation has no JSON schema ({str(error).splitlines()[0]})") from None
    for one in schema.get("properties", {}).values():
        one.pop("title", None)
    return tool_from_schema(name, summary, schema)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        # names that exist for the type checker only; the parameters are taken as text
        return {}


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The first paragraph, and the arguments' descriptions (Google's or Sphinx's style)."""
    summary = text.split("\n\n")[0]
    described: dict[str, str] = {}
    inside, last = False, ""
    for line in text.splitlines():
        if sphinx := _SPHINX.match(line):
            described[sphinx[1]] = sphinx[2].strip()
        elif _SECTION.match(line):
            inside, last = True, ""
        elif _OTHER_SECTION.match(line):
            inside = False
        elif inside and (found := _ARGUMENT.match(line)):
            last = found[1]
            described[last] = found[2].strip()
        elif inside and last and line.strip():
            described[last] += " " + line.strip()
    return "" if _SECTION.match(summary.splitlines()[0] if summary else "") else summary, described
