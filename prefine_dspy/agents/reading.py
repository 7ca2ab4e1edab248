"""An LM's answer -> the step's action. Tolerant, never raising; what cannot be used becomes a question to the user.

The values of a call are passed on as they were written, in the JSON types of the catalogue: unlike where a call is the
whole answer, the tool itself will say what is wrong with a value. A call that does not fit the catalogue (an unknown
tool, a value outside a closed set, a required argument missing) is not made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import json_repair

from prefine_dspy.adapter import is_noise
from prefine_dspy.agents.protocol import Reply
from prefine_dspy.call_schema import UNSPECIFIED
from prefine_dspy.interop.json_values import Misfit, typed
from prefine_dspy.parsing_fit import closest
from prefine_dspy.parsing_json import RawCall, read_answer
from prefine_dspy.parsing_values import clean_arguments, clean_text
from prefine_dspy.situation.state_tag import without_state
from prefine_dspy.tools import Catalogue, Tool
from prefine_dspy.types import ToolCall

ASK_AGAIN = "I am sorry, I did not get that. Please say it once more in other words."
"""The safe action in place of an unusable answer: nothing is changed, and the user's next words are a new chance."""
LONGEST_TEXT = 2_000
"""Characters of a message that are passed on."""
_LONGEST_REPAIR = 4_000
_REPLY_NAMES = ("reply", "respond", "message", "say")


class ReadAction(NamedTuple):
    """What an answer says to do.

    Args:
        action: the call or the message; `ASK_AGAIN` where there was none that could be used.
        counts: of `unparsed`, `refused`, `dropped` (`prefine_dspy.agents.notes`).
        problem: why it was not used, or what was left out; "" if nothing.
    """

    action: ToolCall | Reply
    counts: dict[str, int] = {}
    problem: str = ""

    @property
    def usable(self) -> bool:
        """Whether the action is the answer's own."""
        return not {"unparsed", "refused"} & self.counts.keys()


def read_action(answer: Any, tools: Catalogue) -> ReadAction:
    """The action of an answer.

    Args:
        answer: the action's field, decoded or as text.
    """
    if isinstance(answer, str):
        if is_noise(answer):
            return _unparsed("the answer is too long, or nested too deeply")
        answer = _decoded(answer)
    if isinstance(answer, Mapping):
        if (text := _reply_text(answer)) is not None:
            return _reply(text)
        if "reply" in answer and "function" not in answer:
            return _unparsed("the message is empty")
    calls = read_answer(answer, known=frozenset(tool.name for tool in tools))
    if not calls:
        return _unparsed("there is neither a call nor a message")
    first = _fitted(calls[0], tools)
    if len(calls) > 1 and first.usable:
        return first._replace(problem=f"{len(calls)} calls; the first is made")
    return first


def fields_of(text: str) -> dict[str, Any]:
    """The fields of an answer that is no valid JSON: cut off, fenced, inside prose. {} when there are none."""
    start = text.find("{")
    if start < 0 or is_noise(text):
        return {}
    try:
        value = json_repair.loads(text[start : start + _LONGEST_REPAIR])
    except Exception:  # a third party's parser on hostile text
        return {}
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def short_text(value: Any, longest: int = LONGEST_TEXT) -> str:
    """A text field in one line; other values as JSON."""
    text = value if isinstance(value, str) else "" if value is None else _json(value)
    return " ".join(clean_text(text[: 2 * longest]).split())[:longest]


def _decoded(text: str) -> Any:
    """A mapping where the text is one, else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _reply_text(answer: Mapping[Any, Any]) -> str | None:
    """The message of an answer that is one: `{"reply": "..."}`, or a call of a tool named so."""
    if isinstance(text := answer.get("reply"), str):
        return text if text.strip() else None
    if str(answer.get("function", answer.get("name", ""))).casefold() in _REPLY_NAMES:
        arguments = answer.get("arguments", answer.get("text"))
        values = [*arguments.values()] if isinstance(arguments, Mapping) else [arguments]
        return next((one for one in values if isinstance(one, str) and one.strip()), None)
    return None


def _reply(text: str) -> ReadAction:
    said = without_state(clean_text(text[: 2 * LONGEST_TEXT]))[:LONGEST_TEXT].strip()
    return ReadAction(Reply(text=said)) if said else _unparsed("the message is empty")


def _unparsed(problem: str) -> ReadAction:
    return ReadAction(Reply(text=ASK_AGAIN), {"unparsed": 1}, problem)


def _refused(problem: str) -> ReadAction:
    return ReadAction(Reply(text=ASK_AGAIN), {"refused": 1}, problem[:200])


def _fitted(raw: RawCall, tools: Catalogue) -> ReadAction:
    name = clean_text(raw.name).strip()
    known = closest(name.rpartition(".")[2] or name, [tool.name for tool in tools])
    tool = tools.get(known) if known else None
    if tool is None:
        return _refused(f"there is no tool {name}")
    written, unreadable = clean_arguments(raw.arguments)
    if unreadable:
        return _refused(f"{tool.name}.{unreadable[0]} cannot be read")
    return _typed(tool, written)


def _typed(tool: Tool, written: Mapping[str, Any]) -> ReadAction:
    arguments: dict[str, Any] = {}
    unknown = []
    for name, value in written.items():
        found = closest(name, [one.name for one in tool.parameters])
        parameter = tool.parameter(found) if found else None
        if parameter is None:
            unknown.append(name)
            continue
        if value == UNSPECIFIED or (value is None and not parameter.required):
            continue
        try:
            arguments[parameter.name] = typed(value, parameter)
        except Misfit:
            return _refused(f"{tool.name}.{parameter.name} cannot be {_json(value)}")
    if missing := [one.name for one in tool.parameters if one.required and one.name not in arguments]:
        return _refused(f"{tool.name} needs {', '.join(missing)}")
    call = ToolCall(name=tool.name, arguments=arguments)
    if unknown:
        return ReadAction(call, {"dropped": len(unknown)}, f"{tool.name} has no {', '.join(unknown)}"[:200])
    return ReadAction(call)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "..."
