"""ToolCaller: a query, the tools and a memory become tool calls (PRefine section 3, `a* = argmax pi(a | q, p, F)`)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.call_schema import call_type
from prefine_dspy.grounding import ungrounded
from prefine_dspy.parsing import Dropped, parse_calls
from prefine_dspy.rendering import NOTHING, query_text
from prefine_dspy.signatures import CallTool
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query, ToolCall, value_text


class ToolCaller(dspy.Module):
    """Predict the call of a query.

    The catalogue goes into the instructions (a stable prefix, absent from demonstrations) and into the type of the
    answer (a grammar where the LM has one); the saved state keeps the plain signature. Open values that the LM did not
    read anywhere are dropped (`grounding`).

    Example:
        caller = ToolCaller()
        with dspy.context(lm=resolve("local")):
            caller(query=Query.of("Book me a flight"), tools=catalogue, memory="Prefers budget options.").calls
    """

    def __init__(self) -> None:
        super().__init__()
        self.call_tool = dspy.Predict(CallTool)

    def forward(self, query: Query, tools: Catalogue, memory: str = "") -> dspy.Prediction:
        """Returns a prediction with `calls` (list of ToolCall; empty when it abstains), `problems` (why parts of the
        answer were dropped), `raw` (the answer's text), `parse_failed`, and `logprobs` if the LM was asked for them."""
        logprobs = None
        with dspy.context(adapter=CompactAdapter()):
            try:
                predicted = self.call_tool(**self._inputs(query, tools, memory))
                answer, logprobs = predicted.call, predicted.get("logprobs")
            except AdapterParseError as error:
                answer = error.lm_response or ""
        return _prediction(answer, tools, query, memory, logprobs)

    async def aforward(self, query: Query, tools: Catalogue, memory: str = "") -> dspy.Prediction:
        """See `forward`."""
        logprobs = None
        with dspy.context(adapter=CompactAdapter()):
            try:
                predicted = await self.call_tool.acall(**self._inputs(query, tools, memory))
                answer, logprobs = predicted.call, predicted.get("logprobs")
            except AdapterParseError as error:
                answer = error.lm_response or ""
        return _prediction(answer, tools, query, memory, logprobs)

    def _inputs(self, query: Query, tools: Catalogue, memory: str) -> dict[str, Any]:
        base = self.call_tool.signature
        return {
            "signature": with_tools(base, tools),
            "memory": memory or NOTHING,
            "query": query_text(query),
        }


@lru_cache(maxsize=64)
def with_tools(base: type[dspy.Signature], tools: Catalogue) -> type[dspy.Signature]:
    """The signature for one catalogue: its text after the instructions, its schema as the answer's type."""
    text = f"{base.instructions}\n\nTools:\n{tools.prompt_text()}"
    return base.with_instructions(text).with_updated_fields("call", type_=call_type(tools))


def _prediction(answer: Any, tools: Catalogue, query: Query, memory: str, logprobs: Any) -> dspy.Prediction:
    parsed = parse_calls(answer, tools)
    calls, problems = [], list(parsed.problems)
    for call in parsed.calls:
        invented = ungrounded(call, tools, query_text(query), memory)
        problems += [Dropped("not_grounded", call.name, name, value_text(call.arguments[name])) for name in invented]
        kept = {name: value for name, value in call.arguments.items() if name not in invented}
        calls.append(ToolCall(name=call.name, arguments=kept))
    raw = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    return dspy.Prediction(
        calls=calls,
        problems=problems,
        raw=raw,
        parse_failed=parsed.parse_failed,
        call=answer,
        logprobs=logprobs,
    )
