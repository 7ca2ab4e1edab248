"""Tools and their catalogue: what may be called, as prompt text and as a check of calls.

The JSON schema that constrains an LM's output is built in `prefine_dspy.call_schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall, value_text


class Parameter(BaseModel):
    """One argument of a tool.

    Args:
        name: as it is sent, e.g. "flight_class".
        type: its JSON type.
        description: for the LM; may be empty.
        enum: known values as text; empty when anything goes.
        open: the enum only suggests. A closed enum constrains the LM's output; an open one (places, names) must
            not, else the grammar forces a wrong value.
        transient: says what is done this once (a date, a time, a place), not how this user likes it done; never
            evidence for a preference (PRefine section 3, "what" and "how" arguments).
        copied: its value is read, never inferred: a closed value counts only where one of its words was said
            (`narrowing`). Otherwise "cheap" may become "inexpensive".
        required: the tool cannot run without it.
        json_schema: the JSON schema of the value when it is more than the above (arrays, objects, ranges).
        markers: words that may stand in a value's place and mean something: NLSI's "any" (the user does not care) and
            "?" (the user asks for it). Elsewhere such words are placeholders, and dropped.
        context: what the argument is beyond its tool ("place", "date"): arguments of one context have one value in the
            calls of one request (`shared_context`). Empty when it stands alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    name: str
    type: Literal["string", "boolean", "integer", "number", "array", "object"] = "string"
    description: str = ""
    enum: tuple[str, ...] = ()
    open: bool = False
    transient: bool = False
    copied: bool = False
    required: bool = False
    json_schema: dict[str, Any] | None = None
    markers: tuple[str, ...] = ()
    context: str = ""

    def choices(self) -> tuple[str, ...]:
        """The closed set of values as text, or () when any value is allowed."""
        if self.type == "boolean":
            return ("True", "False")
        return () if self.open else self.enum


class Tool(BaseModel):
    """A function with its parameters (PRefine section 3: a tuple of identifier and parameters)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None."""
        return next((p for p in self.parameters if p.name == name), None)

    def prompt_line(self) -> str:
        """The tool on one line: `GetFlights(flight_class: Economy|Business, passengers)`."""
        inside = ", ".join(_prompt_parameter(p) for p in self.parameters)
        text = f"{self.name}({inside})"
        return f"{text}: {self.description}" if self.description else text


def _prompt_parameter(parameter: Parameter) -> str:
    values = "|".join(parameter.choices())
    if parameter.open and parameter.enum:
        values = "e.g. " + "|".join(parameter.enum[:3])
    if not values and parameter.type != "string":
        values = parameter.type
    if parameter.description:
        values = f"{values} ({parameter.description})".strip()
    return f"{parameter.name}: {values}" if values else parameter.name


class Problem(NamedTuple):
    """Why a call does not fit the catalogue."""

    kind: Literal["unknown_function", "unknown_argument", "value_not_allowed", "missing_required"]
    function: str
    argument: str = ""
    value: str = ""


class Catalogue:
    """The tools an agent may call, in a fixed order.

    Args:
        tools: at least one, names all different.

    Raises:
        InputError: no tool, or a name twice.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._by_name = {tool.name: tool for tool in self.tools}
        if not self.tools:
            raise InputError("a catalogue needs at least one tool: pass tools=[...]")
        if len(self._by_name) != len(self.tools):
            twice = sorted({t.name for t in self.tools if sum(u.name == t.name for u in self.tools) > 1})
            raise InputError(f"tool names must be unique; given more than once: {', '.join(twice)}")

    def __repr__(self) -> str:
        # optimizers show examples to an LM: an address would make each run's prompts differ
        return f"Catalogue({', '.join(self._by_name)})"

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._by_name.get(name)

    def prompt_text(self) -> str:
        """One line a tool, in catalogue order: short, and the same for every query (a stable prompt prefix)."""
        return "\n".join(tool.prompt_line() for tool in self.tools)

    def problems(self, call: ToolCall) -> list[Problem]:
        """Everything in which a call does not fit: unknown names, values outside a closed set, missing arguments."""
        tool = self.get(call.name)
        if tool is None:
            return [Problem("unknown_function", call.name)]
        found: list[Problem] = []
        for argument, value in call.arguments.items():
            parameter = tool.parameter(argument)
            if parameter is None:
                found.append(Problem("unknown_argument", call.name, argument))
                continue
            choices = parameter.choices()
            for one in value if isinstance(value, list) and parameter.type != "array" else [value]:
                if choices and value_text(one) not in (*choices, *parameter.markers):
                    found.append(Problem("value_not_allowed", call.name, argument, value_text(one)))
        found += [
            Problem("missing_required", call.name, p.name)
            for p in tool.parameters
            if p.required and p.name not in call.arguments
        ]
        return found

    def persistent(self, call: ToolCall) -> ToolCall:
        """The call without transient arguments: the part that may be evidence for a preference."""
        tool = self.get(call.name)
        if tool is None:
            return call
        kept = {
            name: value
            for name, value in call.arguments.items()
            if not ((parameter := tool.parameter(name)) and parameter.transient)
        }
        return ToolCall(name=call.name, arguments=kept)
