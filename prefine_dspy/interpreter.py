"""Interpreter: a dialogue and the standing instructions that apply become one or more calls (NLSI; TAPS section 3).

Three forms of the same step, told apart by what is tagged: `Interpreter` reads instructions as they are (TAPS's
Default), `TaggedInterpreter` reads them with tags (Ext-Tag), `TaggingInterpreter` writes the tags itself before the
calls (Joint-Tag). In async code: `await dspy.asyncify(interpreter)(request=..., tools=...)`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.call_schema import calls_type
from prefine_dspy.grounding import ungrounded
from prefine_dspy.narrowing import narrowed
from prefine_dspy.nearest import Nearest
from prefine_dspy.parsing import Dropped, parse_calls
from prefine_dspy.parsing_values import clean_text
from prefine_dspy.rendering import query_text
from prefine_dspy.shared_context import ASKED, link, without_idle_questions
from prefine_dspy.signatures import Interpret, InterpretTagged, TagAndInterpret
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall, value_text

NO_INSTRUCTIONS = "(none)"


class _Interpreting(dspy.Module):
    """What the three have in common: one typed step, and its answer as calls that fit the catalogue.

    Args:
        linked: answer with regard to the whole request: no closed value that nothing in it speaks of (`narrowing`), no
            question that nobody asked, and what the calls of one answer have in common (`shared_context`). False leaves
            the answer as the published programs would.
        nearest, fixed: which demonstrations are shown; see `nearest.Nearest`.
    """

    def __init__(self, signature: type[dspy.Signature], linked: bool, nearest: int, fixed: int) -> None:
        super().__init__()
        self.interpret = dspy.Predict(signature)
        self.linked = linked
        self.nearest = Nearest(nearest, fixed)

    def _answer(self, request: InstructedQuery, tools: Catalogue, **fields: str) -> dspy.Prediction:
        # what may be copied is what was said: a tagger that invents words must not make them readable
        read = f"{instruction_lines(request.texts())}\n{query_text(request.query)}"
        wanted = narrowed(tools, read) if self.linked else tools
        inputs = {"query": query_text(request.query), **fields}
        demos = self.nearest.demonstrations(self.interpret, inputs)
        signature = with_tools(self.interpret.signature, tools, wanted)
        predicted: Any = None
        with dspy.context(adapter=CompactAdapter()):
            try:
                predicted = self.interpret(signature=signature, demos=demos, **inputs)
                answer = predicted.calls
            except AdapterParseError as error:
                answer = error.lm_response or ""
            except RecursionError:  # nested too deeply for a JSON reader; DSPy does not say what it was
                answer = ""
        prediction = interpreted(answer, wanted, read, predicted)
        if self.linked:
            asked, idle = without_idle_questions(prediction.calls, tools, request.query)
            prediction.calls = link(asked, tools, request.query)
            prediction.problems += [Dropped("placeholder", "", "", ASKED)] * idle
        return prediction


class Interpreter(_Interpreting):
    """TAPS's Default: instructions as they are.

    Example:
        with dspy.context(lm=resolve("local")):
            Interpreter()(request=InstructedQuery(query=Query.of("Find me a bus"), ...), tools=catalogue).calls
    """

    def __init__(self, linked: bool = True, nearest: int = 0, fixed: int = 0) -> None:
        super().__init__(Interpret, linked, nearest, fixed)

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """Returns a prediction with `calls` (list of ToolCall), `problems`, `raw`, `parse_failed`, `logprobs`."""
        return self._answer(request, tools, standing=instruction_lines(request.texts()))


class TaggedInterpreter(_Interpreting):
    """TAPS's Ext-Tag: instructions with tags that something else wrote."""

    def __init__(self, linked: bool = True, nearest: int = 0, fixed: int = 0) -> None:
        super().__init__(InterpretTagged, linked, nearest, fixed)

    def forward(self, request: InstructedQuery, tags: Sequence[str], tools: Catalogue) -> dspy.Prediction:
        """See `Interpreter.forward`.

        Args:
            request: the dialogue.
            tags: the applicable instructions in angle form, in the order of `request.applicable`.
            tools: the catalogue.
        """
        return self._answer(request, tools, tagged=instruction_lines(tags))


class TaggingInterpreter(_Interpreting):
    """TAPS's Joint-Tag: tags and calls in one answer."""

    def __init__(self, linked: bool = True, nearest: int = 0, fixed: int = 0) -> None:
        super().__init__(TagAndInterpret, linked, nearest, fixed)

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `Interpreter.forward`; `tags` holds what was written, one a line of the instructions."""
        return self._answer(request, tools, standing=instruction_lines(request.texts()))


def instruction_lines(texts: Sequence[str]) -> str:
    """Instructions as an LM reads them: one a line."""
    return clean_text("\n".join(f"- {' '.join(text.split())}" for text in texts)) or NO_INSTRUCTIONS


@lru_cache(maxsize=64)
def with_tools(base: type[dspy.Signature], tools: Catalogue, wanted: Catalogue | None = None) -> type[dspy.Signature]:
    """The signature for one catalogue: its text after the instructions, a schema as the answer's type.

    Args:
        base: the step's.
        tools: named in the prompt, the same for every request.
        wanted: what may be answered, when that is not all of them.
    """
    text = f"{base.instructions}\n\nAPIs:\n{tools.prompt_text()}"
    return base.with_instructions(text).with_updated_fields("calls", type_=calls_type(wanted or tools))


def interpreted(answer: Any, tools: Catalogue, read: str, predicted: Any = None) -> dspy.Prediction:
    """An LM's answer as calls: fitted to the catalogue, without values that the LM did not read, none twice.

    Args:
        answer: the `calls` field, or the whole text where it could not be split into fields.
        read: everything a value may have been copied from.
        predicted: the step's own prediction, for its other fields.
    """
    parsed = parse_calls(answer, tools)
    calls: list[ToolCall] = []
    problems = list(parsed.problems)
    for call in parsed.calls:
        invented = ungrounded(call, tools, read, "")
        problems += [Dropped("not_grounded", call.name, name, value_text(call.arguments[name])) for name in invented]
        kept = ToolCall(name=call.name, arguments={k: v for k, v in call.arguments.items() if k not in invented})
        if kept not in calls:
            calls.append(kept)
    written = predicted.get("tagged") if predicted is not None else None
    return dspy.Prediction(
        calls=calls,
        problems=problems,
        raw=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str),
        parse_failed=parsed.parse_failed,
        logprobs=predicted.get("logprobs") if predicted is not None else None,
        tags=[str(one) for one in written] if isinstance(written, list) else None,
    )
