"""Tagger: a sentence and the tools become tags (TAPS section 3.1, the structured tagging tool)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Literal

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.errors import InputError
from prefine_dspy.nearest import Nearest
from prefine_dspy.parsing_values import clean_text
from prefine_dspy.signatures import TagInstruction
from prefine_dspy.tagging.answers import read_wanted
from prefine_dspy.tagging.fitting import fit
from prefine_dspy.tagging.parsing import parse_tags
from prefine_dspy.tagging.placing import place
from prefine_dspy.tagging.problems import TagProblem
from prefine_dspy.tagging.rendering import render_tags
from prefine_dspy.tagging.tag_schema import tags_type
from prefine_dspy.tagging.tags import Tagged
from prefine_dspy.tools import Catalogue

AnswerForm = Literal["values", "inline"]

_INLINE = (
    "the sentence again with every word kept, <a:FUNCTION> ... </a> around what concerns a function "
    "and in it <sl:ARGUMENT> ... </sl> around a value"
)
_MOST_PROBLEMS = 50
_UNREADABLE = (AdapterParseError, RecursionError)


class Tagger(dspy.Module):
    """Tag a standing instruction, or a user's utterance.

    Args:
        form: what the LM writes. "values", functions with the words that are values of their arguments, which are
            then looked for in the sentence: short, and no word can change. "inline", the tagged sentence as in the
            paper, which is moved onto the original or refused (`fitting`).
        nearest, fixed: which demonstrations are shown; see `nearest.Nearest`.

    Example:
        tagger = Tagger()
        with dspy.context(lm=resolve("local")):
            tagger(instruction="Find a dentist in New Haven.", tools=catalogue).text
    """

    def __init__(self, form: AnswerForm = "values", nearest: int = 0, fixed: int = 0) -> None:
        super().__init__()
        if form not in ("values", "inline"):
            raise InputError(f"form must be values or inline, not {form!r}")
        self.form = form
        self.nearest = Nearest(nearest, fixed)
        self.tag = dspy.Predict(TagInstruction)

    def forward(self, instruction: str, tools: Catalogue) -> dspy.Prediction:
        """Returns a prediction with `tagged` (None when the answer was refused or unreadable), `text` (in angle form;
        the plain sentence without `tagged`), `problems` (what was repaired or dropped), `raw` (the answer's text),
        `parse_failed`, and `logprobs` if the LM was asked for them."""
        instruction = clean_text(instruction)
        if not _has_words(instruction):
            return _untagged(instruction)
        with dspy.context(adapter=CompactAdapter()):
            try:
                predicted = self.tag(**self._inputs(instruction, tools))
            except _UNREADABLE as error:
                return self._prediction(_written(error), instruction, tools, None)
        return self._prediction(predicted.tags, instruction, tools, predicted.get("logprobs"))

    async def aforward(self, instruction: str, tools: Catalogue) -> dspy.Prediction:
        """See `forward`."""
        instruction = clean_text(instruction)
        if not _has_words(instruction):
            return _untagged(instruction)
        with dspy.context(adapter=CompactAdapter()):
            try:
                predicted = await self.tag.acall(**self._inputs(instruction, tools))
            except _UNREADABLE as error:
                return self._prediction(_written(error), instruction, tools, None)
        return self._prediction(predicted.tags, instruction, tools, predicted.get("logprobs"))

    def _inputs(self, instruction: str, tools: Catalogue) -> dict[str, Any]:
        base = with_tools(self.tag.signature, tools)
        if self.form == "inline":
            signature = base.with_updated_fields("tags", type_=str, desc=_INLINE)
        else:
            signature = base.with_updated_fields("tags", type_=tags_type(tools, instruction))
        demos = self.nearest.demonstrations(self.tag, {"instruction": instruction})
        return {"signature": signature, "demos": demos, "instruction": instruction}

    def _prediction(self, answer: Any, instruction: str, tools: Catalogue, logprobs: Any) -> dspy.Prediction:
        read = _from_inline if self.form == "inline" else _from_values
        tagged, problems, parse_failed = read(answer, instruction, tools)
        raw = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
        return dspy.Prediction(
            tagged=tagged,
            text=instruction if tagged is None else render_tags(tagged),
            problems=problems[:_MOST_PROBLEMS],
            raw=raw,
            parse_failed=parse_failed,
            tags=answer,
            logprobs=logprobs,
        )


@lru_cache(maxsize=64)
def with_tools(base: type[dspy.Signature], tools: Catalogue) -> type[dspy.Signature]:
    """The signature for one catalogue: its text after the instructions, the same for every sentence."""
    return base.with_instructions(f"{base.instructions}\n\nTools:\n{tools.prompt_text()}")


def _written(error: Exception) -> str:
    """What the LM wrote; of an answer nested too deeply for a JSON reader DSPy does not say it."""
    return getattr(error, "lm_response", None) or ""


def _from_values(answer: Any, instruction: str, tools: Catalogue) -> tuple[Tagged | None, list[TagProblem], bool]:
    wanted, problems = read_wanted(answer, tools)
    if wanted is None:
        return None, problems, True
    placed = place(instruction, wanted, tools)
    return placed.tagged, [*problems, *placed.problems], False


def _from_inline(answer: Any, instruction: str, tools: Catalogue) -> tuple[Tagged | None, list[TagProblem], bool]:
    parsed = parse_tags(answer if isinstance(answer, str) else str(answer), tools)
    fitted = fit(parsed.tagged, instruction)
    problems = list(parsed.problems)
    problems += [TagProblem("words_dropped", word) for word in fitted.dropped]
    problems += [TagProblem("words_added", word) for word in fitted.added]
    return fitted.tagged, problems, fitted.tagged is None and not parsed.tagged.actions


def _has_words(instruction: str) -> bool:
    return any(character.isalnum() for character in instruction)


def _untagged(instruction: str) -> dspy.Prediction:
    """A sentence without a word needs no LM."""
    nothing = Tagged(instruction)
    return dspy.Prediction(
        tagged=nothing, text=instruction, problems=[], raw="", parse_failed=False, tags=[], logprobs=None
    )
