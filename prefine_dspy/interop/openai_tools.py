"""OpenAI function definitions: Chat Completions wraps them in `function`, the Responses API does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefine_dspy.interop.parameters import tool_from_schema
from prefine_dspy.tools import Tool


def is_openai_tool(definition: Any) -> bool:
    """Whether this is a function definition in one of the two shapes (or a bare `{"name", "parameters"}`)."""
    if not isinstance(definition, Mapping):
        return False
    return definition.get("type") == "function" or "function" in definition or "parameters" in definition


def from_openai(definition: Mapping[str, Any]) -> Tool:
    """The tool of a definition `{"type": "function", "function": {...}}` or `{"type": "function", "name": ...}`."""
    inner = definition.get("function")
    function = inner if isinstance(inner, Mapping) else definition
    return tool_from_schema(function.get("name"), function.get("description"), function.get("parameters"))
