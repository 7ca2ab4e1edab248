"""`dspy.Tool`s."""

from __future__ import annotations

import inspect
from typing import Any

import dspy

from prefine_dspy.interop.parameters import tool_from_schema
from prefine_dspy.tools import Tool


def from_dspy(tool: dspy.Tool) -> Tool:
    """The tool of a `dspy.Tool`; an argument is required when the function cannot be called without it."""
    properties = {name: _described(tool, name, schema) for name, schema in (tool.args or {}).items()}
    schema = {"type": "object", "properties": properties, "required": _required(tool)}
    return tool_from_schema(tool.name, tool.desc, schema)


def _described(tool: dspy.Tool, name: str, schema: Any) -> Any:
    description = (tool.arg_desc or {}).get(name)
    return {**schema, "description": description} if description and isinstance(schema, dict) else schema


def _required(tool: dspy.Tool) -> list[str]:
    try:
        signature = inspect.signature(tool.func)
    except (TypeError, ValueError):
        return []
    # DSPy notes what an MCP tool requires in the description only; its function takes **kwargs
    noted = [name for name, text in (tool.arg_desc or {}).items() if text and text.endswith("(Required)")]
    needed = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty and name in (tool.args or {})
    ]
    return [*dict.fromkeys([*needed, *noted])]
