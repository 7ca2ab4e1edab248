"""What an LM can do, found out by asking it: schema output, tool calls, log-probabilities."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import dspy

from prefine_dspy.adapter import CompactAdapter


class Finding(NamedTuple):
    """One probe: what was asked for, whether it worked, and what the programs do because of it."""

    ability: Literal["answers", "schema", "tool calls", "log-probabilities"]
    works: bool
    evidence: str
    path: str


class _Colour(dspy.Signature):
    """Name the colour of the sky on a clear day."""

    question: str = dspy.InputField()
    colour: Literal["blue", "green"] = dspy.OutputField()
    certain: bool = dspy.OutputField()


class _Weather(dspy.Signature):
    """Call the tool that answers the request."""

    request: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    calls: dspy.ToolCalls = dspy.OutputField()


def examine(lm: dspy.LM) -> Iterator[Finding]:
    """Probe an LM with four short requests, none of them from a cache. Yields a finding after each.

    Args:
        lm: any LM; when it cannot be reached the first finding says so and no more are made.
    """
    lm = lm.copy(cache=False)
    try:
        text = _first(lm("Reply with the word yes."))
    except Exception as error:  # any failure of any provider is a finding, not a crash
        yield Finding("answers", False, _reason(error), "no program can use this LM")
        return
    yield Finding("answers", True, repr(text[:40]), "")
    yield _schema(lm)
    yield _tool_calls(lm)
    yield _logprobs(lm)


def _schema(lm: dspy.LM) -> Finding:
    declared = lm.supports_response_schema
    with dspy.context(lm=lm, adapter=CompactAdapter()):
        try:
            answer = dspy.Predict(_Colour)(question="What colour is it?")
            works, evidence = answer.colour in ("blue", "green"), f"colour={answer.colour}, certain={answer.certain}"
        except Exception as error:
            works, evidence = False, _reason(error)
    if declared and works:
        path = "calls are constrained by the catalogue's schema"
    else:
        path = "calls are asked for in words and parsed tolerantly"
    return Finding("schema", declared and works, evidence, path)


def _tool_calls(lm: dspy.LM) -> Finding:
    schema = {"city": {"type": "string"}}
    tool = dspy.Tool(func=lambda **given: given, name="get_weather", desc="Weather of a city", args=schema)
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(use_native_function_calling=True)):
        try:
            answer = dspy.Predict(_Weather)(request="How is the weather in Paris?", tools=[tool])
            calls = [(call.name, call.args) for call in answer.calls.tool_calls]
            works, evidence = calls[:1] != [] and calls[0][0] == "get_weather", json.dumps(calls)[:80]
        except Exception as error:
            works, evidence = False, _reason(error)
    native = works and lm.supports_function_calling
    return Finding("tool calls", native, evidence, "native" if native else "the programs do not need them")


def _logprobs(lm: dspy.LM) -> Finding:
    try:
        answer = lm("Reply with the word yes.", logprobs=True, top_logprobs=2)
        tokens = _tokens(answer[0])
        works, evidence = bool(tokens), f"{len(tokens)} tokens scored"
    except Exception as error:
        works, evidence = False, _reason(error)
    return Finding(
        "log-probabilities", works, evidence, "uncertainty from one pass" if works else "uncertainty from samples"
    )


def _tokens(answer: Any) -> list[Any]:
    logprobs = answer.get("logprobs") if isinstance(answer, dict) else None
    content = logprobs.get("content") if isinstance(logprobs, dict) else getattr(logprobs, "content", logprobs)
    return list(content or [])


def _first(answer: list[Any]) -> str:
    return str(answer[0]["text"] if isinstance(answer[0], dict) else answer[0])


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
