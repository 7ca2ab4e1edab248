"""An lm15 Request as the body of a llama.cpp chat completion: every field is mapped or refused, none dropped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from dspy import lm15

from prefine_dspy.lm.grammar import compact_grammar

_SAME_NAME = ("max_tokens", "temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty")
_REFUSED_CONFIG = ("reasoning", "cache", "service_tier", "store", "user_id", "probabilities")


def chat_body(request: lm15.Request) -> dict[str, Any]:
    """The body for `handle_chat_completions`. Tools must have been turned into a schema before (`tool_calls`).

    Raises:
        lm15.UnsupportedFeatureError: the request asks for something that llama.cpp cannot do.
    """
    config = request.config
    for name in _REFUSED_CONFIG:
        if getattr(config, name, None) not in (None, (), {}, False):
            raise refused(f"config.{name}")
    extensions = dict(config.extensions or {})
    bias = extensions.pop("logit_bias", None)
    if any(value not in (None, {}, ()) for value in extensions.values()):
        raise refused(f"config.extensions ({', '.join(sorted(extensions))})")
    if request.tools:
        raise refused("tools (not converted)")
    body: dict[str, Any] = {"messages": list(_messages(request)), "cache_prompt": True}
    body |= {name: value for name in _SAME_NAME if (value := getattr(config, name)) is not None}
    if config.stop:
        body["stop"] = list(config.stop)
    if bias:
        body["logit_bias"] = bias
    if config.logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": config.logprobs}
    if config.response_format:
        body |= _constraint(config.response_format)
    return body


def refused(feature: str) -> lm15.UnsupportedFeatureError:
    """The error for something this engine cannot do."""
    return lm15.UnsupportedFeatureError(f"the local llama.cpp engine does not support {feature}", feature=feature)


def _constraint(response_format: dict[str, Any]) -> dict[str, Any]:
    if response_format["type"] == "json_schema":
        return {"grammar": compact_grammar(response_format["schema"])}
    if response_format["type"] == "json_object":
        return {"response_format": {"type": "json_object"}}
    raise refused(f"response_format {response_format['type']!r}")


def _messages(request: lm15.Request) -> Iterable[dict[str, Any]]:
    if request.system is not None:
        system = request.system if isinstance(request.system, str) else _text(request.system, "the system text")
        yield {"role": "system", "content": system}
    for message in request.messages:
        if message.role == "tool":
            for part in message.parts:
                yield {"role": "tool", "tool_call_id": part.id, "content": _text(part.content, "a tool result")}
            continue
        role = "system" if message.role == "developer" else message.role
        out: dict[str, Any] = {"role": role, "content": _text(message.parts, f"a {role} message")}
        calls = message.parts_of(lm15.ToolCallPart)
        if calls:
            out["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.input, ensure_ascii=False)},
                }
                for call in calls
            ]
        yield out


def _text(parts: Any, where: str) -> str:
    out = []
    for part in (parts,) if isinstance(parts, str) else parts:
        if isinstance(part, str):
            out.append(part)
        elif part.type == "text":
            out.append(part.text)
        elif part.type == "data":
            out.append(json.dumps(part.value, ensure_ascii=False))
        elif part.type not in ("tool_call", "thinking"):  # calls are mapped apart; old reasoning is not sent again
            raise refused(f"{part.type} parts in {where}")
    return "".join(out)
