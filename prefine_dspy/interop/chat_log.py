"""OpenAI chat messages (Chat Completions or Responses items) as turns with the calls that were executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from prefine_dspy.errors import InputError
from prefine_dspy.interop.outcomes import failed
from prefine_dspy.interop.results import as_mapping, read_call
from prefine_dspy.types import ToolCall, Turn

_TEXT_PARTS = ("text", "input_text", "output_text")


class LoggedCall(NamedTuple):
    """A call of a log: its id there, and the call."""

    id: str
    call: ToolCall


class ChatLog(NamedTuple):
    """What a chat log holds.

    Args:
        turns: what was said, with the calls that worked in the turns that made them.
        calls: those calls, in order, each once.
        failed: calls whose result says so, or that were never answered.
        unreadable: calls that could not be read.
    """

    turns: tuple[Turn, ...]
    calls: tuple[ToolCall, ...]
    failed: int = 0
    unreadable: int = 0


def is_chat_log(messages: Sequence[Any]) -> bool:
    """Whether these are chat messages or Responses items."""
    fields = [as_mapping(one) for one in messages]
    return bool(fields) and all(
        isinstance(one.get("role"), str) or one.get("type") in ("function_call", "function_call_output", "reasoning")
        for one in fields
    )


def read_chat(messages: Iterable[Any]) -> ChatLog:
    """Read a conversation.

    Args:
        messages: dictionaries or the SDK's objects; system and developer messages are left out.

    A call is executed when its result is in the log and does not tell of a failure. Where a log holds no results at all
    it does not record them, and every call counts.
    """
    steps: list[tuple[Literal["user", "assistant"], str, list[LoggedCall]]] = []
    results: dict[str, bool] = {}
    unreadable = 0
    for message in messages:
        fields = as_mapping(message)
        kind, role = fields.get("type"), fields.get("role")
        if role == "tool" or kind == "function_call_output":
            content = fields.get("output") if kind == "function_call_output" else fields.get("content")
            identity = str(fields.get("tool_call_id") or fields.get("call_id") or "")
            results[identity] = not failed(content if isinstance(content, Mapping) else text_of(content))
            continue
        made = fields.get("tool_calls") if isinstance(fields.get("tool_calls"), list | tuple) else ()
        made = [message] if kind == "function_call" else list(made or ())
        calls, bad = _read_calls(made)
        unreadable += bad
        text = text_of(fields.get("content"))
        if role == "user" and text:
            steps.append(("user", text, []))
        elif role == "assistant" or kind == "function_call":
            if text or calls:
                steps.append(("assistant", text, calls))
    return _log(steps, results, unreadable)


def _read_calls(made: Iterable[Any]) -> tuple[list[LoggedCall], int]:
    calls, bad = [], 0
    for one in made:
        fields = as_mapping(one)
        try:
            calls.append(LoggedCall(str(fields.get("call_id") or fields.get("id") or ""), read_call(one)))
        except InputError:
            bad += 1
    return calls, bad


def _log(
    steps: Sequence[tuple[Literal["user", "assistant"], str, list[LoggedCall]]],
    results: Mapping[str, bool],
    unreadable: int,
) -> ChatLog:
    turns, executed, lost = [], [], 0
    for role, text, made in steps:
        worked = [one.call for one in made if not results or results.get(one.id, False)]
        lost += len(made) - len(worked)
        executed += worked
        if text or worked:
            turns.append(Turn(role=role, text=text, calls=tuple(worked)))
    return ChatLog(tuple(turns), once(executed), lost, unreadable)


def once(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """Each call once, in order of its first time."""
    kept: list[ToolCall] = []
    for call in calls:
        if call not in kept:
            kept.append(call)
    return tuple(kept)


def text_of(content: Any) -> str:
    """The text of a message's content: a string or a list of parts; pictures and sounds are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        parts = [as_mapping(part) for part in content]
        return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") in _TEXT_PARTS)
    return ""
