"""Calls in the forms that other agents send, and other agents' calls read."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

if TYPE_CHECKING:
    import dspy


class Calls(tuple[ToolCall, ...]):
    """Tool calls, values in their JSON types.

    Example:
        for call in result.calls: run(call.name, **call.arguments)
        message = {"role": "assistant", "content": None, "tool_calls": result.calls.to_openai()}
    """

    __slots__ = ()

    def to_openai(self) -> list[dict[str, Any]]:
        """`tool_calls` of an assistant message of Chat Completions; every call gets a fresh id."""
        return [
            {"id": _fresh_id(), "type": "function", "function": {"name": one.name, "arguments": _json(one)}}
            for one in self
        ]

    def to_openai_responses(self) -> list[dict[str, Any]]:
        """`function_call` items of the Responses API; every call gets a fresh id."""
        return [
            {"type": "function_call", "call_id": _fresh_id(), "name": one.name, "arguments": _json(one)} for one in self
        ]

    def to_mcp(self) -> list[dict[str, Any]]:
        """The `params` of MCP `tools/call` requests: `await session.call_tool(**params)`."""
        return [{"name": one.name, "arguments": dict(one.arguments)} for one in self]

    def to_dspy(self) -> dspy.ToolCalls:
        """`dspy.ToolCalls`."""
        import dspy

        return dspy.ToolCalls.from_dict_list([{"name": one.name, "args": dict(one.arguments)} for one in self])


def read_call(call: Any) -> ToolCall:
    """A call of another agent.

    Args:
        call: a ToolCall, an OpenAI tool call (Chat or Responses shape, dictionary or SDK object), the `params` of an
            MCP `tools/call`, or a `dspy.ToolCalls.ToolCall`. Arguments that are null count as not given.

    Raises:
        InputError: it is none of them, or its arguments are not a JSON object.
    """
    if isinstance(call, ToolCall):
        return call
    fields = as_mapping(call)
    inner = fields.get("function")
    function = as_mapping(inner) if inner is not None else fields
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("the call has no function name: give {'name': ..., 'arguments': {...}}")
    arguments: Any = next((function[key] for key in ("arguments", "args") if function.get(key) is not None), {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            raise InputError(f"the arguments of the call of {name} are not JSON") from None
    if not isinstance(arguments, Mapping):
        raise InputError(f"the arguments of the call of {name} are not an object")
    return ToolCall(name=name, arguments={str(key): one for key, one in arguments.items() if one is not None})


def as_mapping(thing: Any) -> Mapping[str, Any]:
    """A dictionary, or an SDK's object as one; {} for anything else."""
    if isinstance(thing, Mapping):
        return thing
    if hasattr(thing, "model_fields_set"):  # a pydantic object: its fields, not their dumped copies
        return {name: getattr(thing, name) for name in type(thing).model_fields}
    return {}


def _json(call: ToolCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)


def _fresh_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"
