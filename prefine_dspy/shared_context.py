"""What several calls of one request have in common: the city of a concert is that of the restaurant after it.

TAPS names calls that lack such shared context among its open errors (Limitations). A catalogue says which arguments
of different tools mean the same (`Parameter.context`); inside one function, everything that the user said in the
dialogue is common to its calls, which differ in what the instructions offer as alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefine_dspy.narrowing import stem
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query, ToolCall, value_text

ASKED = "?"
"""The marker of an argument whose value the user asks for."""
_LINKING = frozenset("a an and at by for from has have in is of on or the to with".split())


def link(calls: Sequence[ToolCall], tools: Catalogue, query: Query) -> list[ToolCall]:
    """Give every call what is common and only some of them say; what a call says itself is never changed.

    Args:
        calls: that fit the catalogue.
        tools: its parameters' contexts tell what is common across functions.
        query: the dialogue.
    """
    if len(calls) < 2:
        return list(calls)
    said = " ".join(turn.text for turn in query.turns).casefold()
    return [_in_order(call, {**_of_context(call, calls, tools), **_said(call, calls, said)}, tools) for call in calls]


def without_idle_questions(calls: Sequence[ToolCall], tools: Catalogue, query: Query) -> tuple[list[ToolCall], int]:
    """Drop "?" where the user asks for no such thing: a small LM writes it for every argument that it cannot fill.

    An argument counts as asked for when a telling word of its name occurs in what the user says, or when the user
    answers an offer of the assistant's with a question. Not telling are "of" in number_of_rooms and what the function
    itself is about: who looks for events does not ask for an event_name.

    Returns:
        The calls, and how many arguments were dropped.
    """
    users = [turn.text for turn in query.turns if turn.role == "user"]
    words = {stem(word) for text in users for word in re.findall(r"\w+", text)}
    follow_up = len(users) > 1 and "?" in users[-1]
    kept, dropped = [], 0
    for call in calls:
        tool = tools.get(call.name)
        idle = {
            name
            for name, value in call.arguments.items()
            if value == ASKED
            and ASKED in (getattr(tool and tool.parameter(name), "markers", None) or ())
            and not follow_up
            and not any(stem(part) in words for part in _telling(name, call.name))
        }
        dropped += len(idle)
        kept.append(ToolCall(name=call.name, arguments={k: v for k, v in call.arguments.items() if k not in idle}))
    return kept, dropped


def _telling(argument: str, function: str) -> list[str]:
    about = {stem(word) for word in re.findall(r"[A-Z]?[a-z]+", function)}
    parts = [part for part in argument.split("_") if part not in _LINKING]
    return [part for part in parts if stem(part) not in about] or parts


def is_said(value: str, text: str) -> bool:
    """Whether a text holds a value as whole words; both in lower case. A boolean is not said by its name."""
    if not value.strip() or value in ("true", "false"):
        return False
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _of_context(call: ToolCall, calls: Sequence[ToolCall], tools: Catalogue) -> dict[str, object]:
    tool = tools.get(call.name)
    found: dict[str, object] = {}
    for parameter in tool.parameters if tool else ():
        values = _values(calls, tools, parameter.context) if parameter.context else []
        own = [one for one in (tool.parameters if tool else ()) if one.context == parameter.context]
        if len(values) == 1 and not any(one.name in call.arguments for one in own) and parameter == own[0]:
            found[parameter.name] = values[0]
    return found


def _values(calls: Sequence[ToolCall], tools: Catalogue, context: str) -> list[object]:
    """The different values that the calls give arguments of a context."""
    found: dict[str, object] = {}
    for call in calls:
        tool = tools.get(call.name)
        for name, value in call.arguments.items():
            parameter = tool.parameter(name) if tool else None
            if parameter is not None and parameter.context == context and value not in parameter.markers:
                found.setdefault(value_text(value).casefold(), value)
    return list(found.values())


def _said(call: ToolCall, calls: Sequence[ToolCall], said: str) -> dict[str, object]:
    """What the dialogue says and another call of the same function holds."""
    values: dict[str, dict[str, object]] = {}
    for other in calls:
        if other.name == call.name:
            for name, value in other.arguments.items():
                values.setdefault(name, {})[value_text(value).casefold()] = value
    return {
        name: next(iter(options.values()))
        for name, options in values.items()
        if name not in call.arguments and len(options) == 1 and is_said(next(iter(options)), said)
    }


def _in_order(call: ToolCall, more: dict[str, object], tools: Catalogue) -> ToolCall:
    """The call with more arguments, in the catalogue's order."""
    if not more:
        return call
    tool = tools.get(call.name)
    whole = {**call.arguments, **more}
    known = [parameter.name for parameter in tool.parameters] if tool else []
    order = sorted(whole, key=lambda name: known.index(name) if name in known else len(known))
    return ToolCall(name=call.name, arguments={name: whole[name] for name in order})
