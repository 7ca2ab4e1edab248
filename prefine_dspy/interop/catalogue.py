"""Whatever an agent calls its tools, as a `Catalogue`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prefine_dspy.errors import InputError
from prefine_dspy.interop.mcp_tools import from_mcp, is_mcp_tool
from prefine_dspy.interop.openai_tools import from_openai, is_openai_tool
from prefine_dspy.interop.parameters import tool_from_schema
from prefine_dspy.interop.transience import is_moment, is_transient
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import ToolCall

Transient = Mapping[str, Iterable[str]]


def catalogue(tools: Any, transient: Transient | None = None) -> Catalogue:
    """The catalogue of any mixture of tools.

    Args:
        tools: a Catalogue; or a list of OpenAI function definitions (Chat or Responses shape), MCP tools (dictionaries
            or `mcp.types.Tool`), `dspy.Tool`s, Python functions, or `Tool`s.
        transient: for a tool's name exactly those arguments that say what is done this once (a date, a place) and are
            never remembered. Tools not named keep what they state (`Tool`) or what formats and names suggest.

    Raises:
        InputError: something is not a tool, there is none, or a name is given twice.
    """
    if isinstance(tools, Catalogue) and not transient:
        return tools
    if isinstance(tools, str | Mapping) or not isinstance(tools, Iterable):
        raise InputError(f"tools must be a list of tools, not {type(tools).__name__}: pass tools=[...]")
    found = [_tool(one) for one in tools]
    return Catalogue(_marked(found, transient) if transient else found)


def _tool(tool: Any) -> Tool:
    if isinstance(tool, Tool):
        return tool
    if is_mcp_tool(tool):
        return from_mcp(tool)
    if is_openai_tool(tool):
        return from_openai(tool)
    if isinstance(tool, Mapping) and "name" in tool:  # a function without arguments
        return tool_from_schema(tool["name"], tool.get("description"), None)
    if hasattr(tool, "func") and hasattr(tool, "args") and hasattr(tool, "desc"):
        from prefine_dspy.interop.dspy_tools import from_dspy

        return from_dspy(tool)
    if hasattr(tool, "get_input_schema") or not callable(tool):
        raise InputError(
            f"{type(tool).__name__} is no tool: give OpenAI or MCP definitions, dspy.Tools, Python functions or Tools "
            "(for LangChain tools: langchain_core.utils.function_calling.convert_to_openai_tool)"
        )
    from prefine_dspy.interop.functions import from_function

    return from_function(tool)


def _marked(tools: Sequence[Tool], transient: Transient) -> list[Tool]:
    known = {tool.name: {parameter.name for parameter in tool.parameters} for tool in tools}
    for name, arguments in transient.items():
        if name not in known:
            raise InputError(f"transient names the tool {name!r}; known: {', '.join(known)}")
        if unknown := sorted(set(arguments) - known[name]):
            raise InputError(f"transient names {name}.{unknown[0]}; known: {', '.join(sorted(known[name]))}")
    return [
        tool.model_copy(update={"parameters": tuple(_mark(p, set(transient[tool.name])) for p in tool.parameters)})
        if tool.name in transient
        else tool
        for tool in tools
    ]


def _mark(parameter: Parameter, transient: set[str]) -> Parameter:
    return parameter.model_copy(update={"transient": parameter.name in transient})


def covering(tools: Catalogue | None, calls: Iterable[ToolCall]) -> Catalogue | None:
    """The catalogue, with what can be told of functions that only occur in calls; None when there is nothing at all.

    A log may hold calls of tools that the agent has no more.
    """
    unknown: dict[str, dict[str, list[Any]]] = {}
    for call in calls:
        if tools is None or call.name not in tools:
            arguments = unknown.setdefault(call.name, {})
            for name, value in call.arguments.items():
                arguments.setdefault(name, []).append(value)
    if not unknown:
        return tools
    guessed = [
        Tool(
            name=name,
            parameters=tuple(
                Parameter(name=one, transient=is_transient(one, {}) or all(is_moment(value) for value in values))
                for one, values in arguments.items()
            ),
        )
        for name, arguments in unknown.items()
    ]
    return Catalogue([*(tools or ()), *guessed])
