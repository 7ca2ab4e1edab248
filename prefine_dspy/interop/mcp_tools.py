"""MCP tool definitions, as `tools/list` returns them or as the Python SDK's objects. Needs no MCP package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefine_dspy.interop.parameters import tool_from_schema
from prefine_dspy.tools import Tool

_SCHEMA_KEYS = ("inputSchema", "input_schema")


def is_mcp_tool(definition: Any) -> bool:
    """Whether this is an MCP tool: a dictionary or an object with an input schema."""
    return any(_get(definition, key) is not None for key in _SCHEMA_KEYS)


def from_mcp(definition: Any) -> Tool:
    """The tool of a definition `{"name", "description", "inputSchema"}` or of an `mcp.types.Tool`."""
    schema = next((found for key in _SCHEMA_KEYS if (found := _get(definition, key)) is not None), None)
    return tool_from_schema(_get(definition, "name"), _get(definition, "description"), schema)


def _get(definition: Any, key: str) -> Any:
    return definition.get(key) if isinstance(definition, Mapping) else getattr(definition, key, None)
