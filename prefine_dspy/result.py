"""Result: calls, where every argument of them came from, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dspy

from prefine_dspy.call_schema import UNSPECIFIED
from prefine_dspy.confidence import confidences
from prefine_dspy.interop.json_values import typed_call
from prefine_dspy.interop.results import Calls
from prefine_dspy.parsing_fit import Dropped
from prefine_dspy.provenance import Source, source_of
from prefine_dspy.rendering import query_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query, ToolCall, value_text
from prefine_dspy.user_memory import UserMemory


@dataclass(frozen=True)
class Result:
    """What an agent answers.

    Args:
        calls: in JSON types; empty when it abstains. `calls.to_openai()`, `.to_openai_responses()`, `.to_mcp()`,
            `.to_dspy()` convert.
        sources: for each call the source of every argument, by name.
        missing: for each call the required arguments that nothing defends: ask the user.
        dropped: what the LM wrote and was not believed, and why.
        parse_failed: the LM's answer could not be read.
    """

    calls: Calls = Calls()
    sources: tuple[Mapping[str, Source], ...] = ()
    missing: tuple[tuple[str, ...], ...] = ()
    dropped: tuple[Dropped, ...] = field(default=(), repr=False)
    parse_failed: bool = False

    @property
    def stated(self) -> Calls:
        """The calls without what came from the memory: what to log as a session's calls, so that a memory does not
        confirm itself."""
        kept = zip(self.calls, self.sources, strict=True)
        return Calls(
            ToolCall(name=call.name, arguments={k: v for k, v in call.arguments.items() if found[k].origin != "memory"})
            for call, found in kept
        )

    def explain(self) -> str:
        """One line an argument: `GetFlights.flight_class = Economy: from memory version 2 (chosen in s1, s3)`."""
        lines = []
        for call, sources, missing in zip(self.calls, self.sources, self.missing, strict=True):
            lines += [f"{call.name}.{name} = {value}: {sources[name]}" for name, value in call.arguments.items()]
            lines += [f"{call.name}.{name}: missing" for name in missing]
            if not call.arguments and not missing:
                lines.append(f"{call.name}()")
        return "\n".join(lines) or "no call"


@dataclass(frozen=True)
class Asked:
    """One question to a tool caller.

    Args:
        query: the conversation.
        tools: as the caller of this package gave them.
        prompted: the same as the LM is asked about them.
        memory: the user's.
        memory_text: as the LM reads it.
        reads_memory: the caller takes the memory itself, not its text.
    """

    query: Query
    tools: Catalogue
    prompted: Catalogue
    memory: UserMemory
    memory_text: str
    reads_memory: bool = False

    def inputs(self) -> dict[str, Any]:
        """For `ToolCaller`."""
        memory = self.memory.memory if self.reads_memory else self.memory_text
        return {"query": self.query, "tools": self.prompted, "memory": memory}


def result_of(asked: Asked, prediction: dspy.Prediction, why_unscored: str) -> Result:
    """The result of a tool caller's prediction.

    Args:
        asked: what it was asked.
        prediction: of `ToolCaller`.
        why_unscored: the reason to give where there is no confidence.
    """
    scores = confidences(prediction.get("logprobs"), prediction.calls, asked.prompted)
    for score, lifted in zip(scores, prediction.get("confidences") or [{}] * len(scores), strict=True):
        score.update(lifted)
    dropped: list[Dropped] = [one for one in prediction.problems if one.value != UNSPECIFIED]
    calls, sources, missing = [], [], []
    for written, score in zip(prediction.calls, scores, strict=True):
        call, misfits = typed_call(written, asked.tools)
        dropped += [
            Dropped("value_not_allowed", call.name, name, value_text(written.arguments[name])) for name in misfits
        ]
        call, defaults = with_defaults(call, asked.tools)
        tool = asked.tools.get(call.name)
        found = {}
        for name in call.arguments:
            if name in defaults:
                found[name] = Source(origin="default", why_no_confidence="the tool's default, not the LM's choice")
                continue
            parameter = tool.parameter(name) if tool else None
            source = source_of(call, name, parameter, query_text(asked.query), asked.memory, asked.memory_text)
            known = {"confidence": score[name]} if name in score else {"why_no_confidence": why_unscored}
            found[name] = source.model_copy(update=known)
        calls.append(call)
        sources.append(found)
        missing.append(missing_in(call, asked.tools))
    return Result(Calls(calls), tuple(sources), tuple(missing), tuple(dropped), bool(prediction.parse_failed))


def with_defaults(call: ToolCall, tools: Catalogue) -> tuple[ToolCall, frozenset[str]]:
    """The call with the defaults of required arguments that nobody gave, and their names. Other defaults are the tool's
    own business: it applies them itself."""
    tool = tools.get(call.name)
    defaults = {
        one.name: one.json_schema["default"]
        for one in (tool.parameters if tool else ())
        if one.required and one.name not in call.arguments and one.json_schema and "default" in one.json_schema
    }
    return ToolCall(name=call.name, arguments={**call.arguments, **defaults}), frozenset(defaults)


def missing_in(call: ToolCall, tools: Catalogue) -> tuple[str, ...]:
    """The required arguments that a call lacks."""
    tool = tools.get(call.name)
    parameters = tool.parameters if tool else ()
    return tuple(one.name for one in parameters if one.required and one.name not in call.arguments)
