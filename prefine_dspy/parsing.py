"""Text or a JSON value from an LM -> tool calls: tolerant, never raising, and honest about what was dropped.

    >>> parse_calls('Sure: ```json {"name": "GetFlights", "arguments": {"flight_class": "Economy"}} ```').calls
    [ToolCall(name='GetFlights', arguments={'flight_class': 'Economy'})]

Three steps, each in its own file: find what looks like a call, in JSON (`parsing_json`) or in call syntax
(`parsing_syntax`); fit it to the catalogue (`parsing_fit`), if there is one.
"""

from __future__ import annotations

from typing import NamedTuple

from prefine_dspy.parsing_fit import Dropped, fit_call
from prefine_dspy.parsing_json import RawCall, read_answer
from prefine_dspy.parsing_values import clean_arguments, clean_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

__all__ = ["Dropped", "ParsedCalls", "parse_calls"]


class ParsedCalls(NamedTuple):
    """What an LM's answer says.

    Args:
        calls: the calls, in order; an empty list is an abstention unless `parse_failed`.
        problems: what was dropped from the answer, and why.
        parse_failed: the answer holds neither a call nor a statement that no call is made.
    """

    calls: list[ToolCall]
    problems: list[Dropped]
    parse_failed: bool

    @property
    def abstained(self) -> bool:
        """A readable answer that fills no argument."""
        return not self.parse_failed and not any(call.arguments for call in self.calls)


def parse_calls(answer: object, tools: Catalogue | None = None) -> ParsedCalls:
    """Read the tool calls out of an LM's answer. Never raises, whatever the answer is.

    Args:
        answer: text, or an already decoded value (dict, list, pydantic model, `dspy.ToolCalls`, `ToolCall` ...).
        tools: if given, names and values are brought to the catalogue's spelling where that is unambiguous;
            unknown functions and arguments, values outside closed sets, and placeholders ("unspecified", "<city>")
            are dropped, each with its reason. Without a catalogue every value is kept as it was written.
    """
    raw = read_answer(answer, known=frozenset(tool.name for tool in tools) if tools else None)
    if raw is None:
        return ParsedCalls([], [], parse_failed=True)
    calls: list[ToolCall] = []
    problems: list[Dropped] = []
    for one in raw:
        call, dropped = _tool_call(one, tools)
        problems += dropped
        if call is not None:
            calls.append(call)
    return ParsedCalls(calls, problems, parse_failed=False)


def _tool_call(raw: RawCall, tools: Catalogue | None) -> tuple[ToolCall | None, list[Dropped]]:
    name = clean_text(raw.name).strip()
    arguments, unreadable = clean_arguments(raw.arguments)
    dropped = [Dropped("unreadable_value", name, argument) for argument in unreadable]
    if tools is None:
        return ToolCall(name=name, arguments=arguments), dropped
    call, misfits = fit_call(name, arguments, tools)
    return call, dropped + misfits
