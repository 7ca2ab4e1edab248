"""Native tools on llama.cpp: listed in the system text, enforced as a schema, parsed back to tool calls.

The server core puts `tools` into the prompt but neither enforces a required call nor parses one for small models;
a constrained schema does both.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import Any

from dspy import lm15

from prefine_dspy.lm.request_body import refused

MAX_CALLS = 4


def as_schema(request: lm15.Request) -> tuple[lm15.Request, bool]:
    """The same request without tools, and whether the answer will hold calls in our schema.

    With a tool choice of "auto" the answer may also be text; "required" forces at least one call.
    """
    if not request.tools:
        return request, False
    choice = request.config.tool_choice
    mode = choice.mode if choice is not None else "auto"
    config = replace(request.config, tool_choice=None)
    if mode == "none":
        return replace(request, tools=(), config=config), False
    allowed = set(choice.allowed) if choice is not None and choice.allowed else None
    tools = [tool for tool in request.tools if allowed is None or tool.name in allowed]
    if any(not isinstance(tool, lm15.FunctionTool) for tool in tools):
        raise refused("built-in tools")
    single = choice is not None and choice.parallel is False
    schema = _schema(tools, text_allowed=mode == "auto", most=1 if single else MAX_CALLS)
    listing = "\n".join(
        f"- {tool.name}: {tool.description or ''} arguments: {json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in tools
    )
    form = '{"tool_calls":[{"name":...,"arguments":{...}}]}'
    text = ' or, when no tool is needed, {"text":...}' if mode == "auto" else ""
    system = f"{_system_text(request)}\n\nTools:\n{listing}\nAnswer only with JSON: {form}{text}."
    constrained = replace(config, response_format={"type": "json_schema", "name": "calls", "schema": schema})
    return replace(request, system=system.strip(), tools=(), config=constrained), True


def from_answer(response: lm15.Response) -> lm15.Response:
    """The response with the answer's calls as `ToolCallPart`s; a text answer becomes plain text."""
    if response.finish_reason != "stop":
        return response
    try:
        answer = json.loads(response.text or "")
    except ValueError:
        return response
    if not isinstance(answer, dict):
        return response
    if "tool_calls" not in answer:
        return replace(response, message=lm15.Message.assistant(str(answer.get("text", ""))))
    try:
        message = lm15.Message.assistant(
            [
                lm15.ToolCallPart(id=f"call_{uuid.uuid4().hex[:12]}", name=call["name"], input=call["arguments"])
                for call in answer["tool_calls"]
            ]
        )
    except (TypeError, KeyError, ValueError):  # not of the schema: the caller's parser says what it makes of it
        return response
    return replace(response, message=message, finish_reason="tool_call")


def _system_text(request: lm15.Request) -> str:
    if request.system is None:
        return ""
    if isinstance(request.system, str):
        return request.system
    return "".join(part.text for part in request.system if part.type == "text")


def _schema(tools: list[Any], text_allowed: bool, most: int) -> dict[str, Any]:
    one = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": tool.parameters},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    calls: dict[str, Any] = {
        "type": "object",
        "properties": {"tool_calls": {"type": "array", "items": {"anyOf": one}, "minItems": 1, "maxItems": most}},
        "required": ["tool_calls"],
        "additionalProperties": False,
    }
    if not text_allowed:
        return calls
    text = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }
    return {"anyOf": [calls, text]}
