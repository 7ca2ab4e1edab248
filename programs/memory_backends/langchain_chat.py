"""A LangChain chat model over the one dspy.LM, whose tool calls are an answer held to a schema.

A small local model told to call tools writes prose, and LangMem then remembers nothing without saying so.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, PrivateAttr

from programs.memory_backends.library_lm import LibraryLM, Message

MOST_CALLS = 5
# Random ids are in every prompt of LangMem: without them a prompt is the same whenever it is made, and shorter.
_IDS = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?![0-9a-f])")
_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class LibraryChat(BaseChatModel):
    """Asks a `LibraryLM`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    lm: LibraryLM
    _aliases: dict[str, str] = PrivateAttr(default_factory=dict)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "prefine"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Runnable:
        """See `BaseChatModel.bind_tools`."""
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self.bind(functions=functions, must_call=bool(tool_choice))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        functions: Sequence[dict[str, Any]] = (),
        must_call: bool = False,
        **kwargs: Any,
    ) -> ChatResult:
        chat = [_message(one) for one in messages]
        schema = None
        if functions:
            chat.append({"role": "user", "content": _instructions(functions)})
            schema = calls_schema(functions, must_call)
        chat = [{**one, "content": _IDS.sub(self._alias, one["content"])} for one in chat]
        known = {one["name"]: one["parameters"] for one in functions}
        answer = self.lm.ask(chat, schema, usable=lambda reply: not known or _usable(reply, known, must_call))
        calls = self._calls(answer, known)
        message = AIMessage(content="" if calls else answer, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _calls(self, answer: str, known: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The calls of an answer, with ids that repeat when the answer does."""
        key = hashlib.sha256(answer.encode("utf-8", "replace")).hexdigest()[:8]
        ids = {alias: own for own, alias in self._aliases.items()}
        return [
            {"name": one["name"], "args": _renamed(one["args"], ids), "id": f"call_{key}_{number}"}
            for number, one in enumerate(_read(answer, known) or [])
        ]

    def _alias(self, match: re.Match[str]) -> str:
        with self._lock:
            return self._aliases.setdefault(match.group(), f"id{len(self._aliases) + 1}")


def calls_schema(functions: Sequence[dict[str, Any]], must_call: bool) -> dict[str, Any]:
    """The schema of `{"calls": [{"name": ..., "args": {...}}]}`.

    Args:
        functions: OpenAI's function descriptions.
        must_call: at least one call.
    """
    definitions: dict[str, Any] = {}
    kinds = []
    for function in functions:
        parameters = copy.deepcopy(function["parameters"])
        definitions |= parameters.pop("$defs", {})  # they are referred to from the root
        kinds.append(
            {
                "type": "object",
                "properties": {"name": {"const": function["name"]}, "args": parameters},
                "required": ["name", "args"],
                "additionalProperties": False,
            }
        )
    calls = {"type": "array", "minItems": int(must_call), "maxItems": MOST_CALLS, "items": {"anyOf": kinds}}
    schema = {"type": "object", "properties": {"calls": calls}, "required": ["calls"], "additionalProperties": False}
    return schema | {"$defs": definitions} if definitions else schema


def _message(message: BaseMessage) -> Message:
    """As text, former calls and their results included: the LM answers in text, too."""
    text = message.content if isinstance(message.content, str) else json.dumps(message.content, ensure_ascii=False)
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [{"id": one["id"], "name": one["name"], "args": one["args"]} for one in message.tool_calls]
        text = json.dumps({"calls": calls}, ensure_ascii=False)
    if isinstance(message, ToolMessage):
        text = f"Result of {message.tool_call_id}: {text}"
    return {"role": _ROLES.get(message.type, "user"), "content": text}


def _instructions(functions: Sequence[dict[str, Any]]) -> str:
    lines = []
    for one in functions:
        arguments = json.dumps(_brief(one["parameters"]), ensure_ascii=False)
        lines.append(f"- {one['name']}: {one.get('description', '')} args: {arguments}")
    return 'Answer with JSON {"calls": [{"name": ..., "args": {...}}]} that uses only these tools:\n' + "\n".join(lines)


def _brief(schema: Any) -> Any:
    """A schema without what only a grammar needs: the alternatives of a value that may be anything."""
    if isinstance(schema, list):
        return [_brief(one) for one in schema]
    if isinstance(schema, dict):
        return {name: _brief(value) for name, value in schema.items() if name not in ("anyOf", "title")}
    return schema


def _read(answer: str, known: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The calls of an answer, also in a code block or in prose; None when it is something else.

    Args:
        answer: of the LM.
        known: parameter schemas by name. Calls of others, or without an argument that has to be there, are left out:
            LangMem's library for calls would ask for them again without end.
    """
    start, end = answer.find("{"), answer.rfind("}")
    try:
        calls = json.loads(answer[start : end + 1])["calls"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(calls, list):
        return None
    return [one for one in calls if _is_call(one, known)]


def _is_call(value: Any, known: Mapping[str, Any]) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("args"), dict):
        return False
    name = value.get("name")
    return isinstance(name, str) and name in known and set(known[name].get("required", ())) <= set(value["args"])


def _usable(answer: str, known: Mapping[str, Any], must_call: bool) -> bool:
    calls = _read(answer, known)
    return calls is not None and (bool(calls) or not must_call)


def _renamed(value: Any, ids: dict[str, str]) -> Any:
    """Arguments with the library's own ids in the place of their aliases."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, list):
        return [_renamed(one, ids) for one in value]
    if isinstance(value, dict):
        return {name: _renamed(one, ids) for name, one in value.items()}
    return value
