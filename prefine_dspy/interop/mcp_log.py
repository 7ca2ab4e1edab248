"""MCP traffic (JSON-RPC messages) as the calls that were executed. There is no dialogue in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prefine_dspy.errors import InputError
from prefine_dspy.interop.chat_log import ChatLog, once
from prefine_dspy.interop.outcomes import failed
from prefine_dspy.interop.results import as_mapping, read_call
from prefine_dspy.types import ToolCall


def is_mcp_log(messages: Sequence[Any]) -> bool:
    """Whether these are JSON-RPC messages."""
    return bool(messages) and all({"method", "result", "error"} & _message(one).keys() for one in messages)


def read_mcp(messages: Iterable[Any]) -> ChatLog:
    """Read a log of requests and responses.

    A call is executed when its response is in the log, is no JSON-RPC error and not flagged `isError`. Where a log
    holds no responses at all, every call counts.
    """
    asked: list[tuple[Any, ToolCall]] = []
    worked: dict[Any, bool] = {}
    unreadable = 0
    for one in messages:
        message = _message(one)
        if message.get("method") == "tools/call":
            try:
                asked.append((_id(message), read_call(message.get("params"))))
            except InputError:
                unreadable += 1
        elif "error" in message:
            worked[_id(message)] = False
        elif "result" in message:
            worked[_id(message)] = not failed(as_mapping(message["result"]))
    answered = {identity for identity, _ in asked} & worked.keys()
    done = [call for identity, call in asked if not answered or worked.get(identity, False)]
    return ChatLog((), once(done), len(asked) - len(done), unreadable)


def _message(one: Any) -> Mapping[str, Any]:
    """The JSON-RPC message, also inside the envelope that inspectors write (`{"direction", "message"}`)."""
    fields = as_mapping(one)
    inner = fields.get("message")
    return inner if isinstance(inner, Mapping) and not fields.keys() & {"method", "result"} else fields


def _id(message: Mapping[str, Any]) -> str:
    return str(message.get("id"))
