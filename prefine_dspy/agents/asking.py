"""One LM call of an agent: a typed signature with the briefing behind its instructions, and the answer's fields.

The briefing is not part of the signature that is compiled and saved; nor do demonstrations repeat it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.agents.protocol import Briefing
from prefine_dspy.agents.reading import fields_of, short_text
from prefine_dspy.agents.step_schema import action_type, reply_type
from prefine_dspy.tools import Catalogue

_only_replies: ContextVar[bool] = ContextVar("only_replies", default=False)


@contextmanager
def offering(calls: bool) -> Iterator[None]:
    """Whether the answers that are asked for inside the block may be calls. The prompt stays the same."""
    token = _only_replies.set(not calls)
    try:
        yield
    finally:
        _only_replies.reset(token)


class Answer(NamedTuple):
    """What an LM answered.

    Args:
        fields: by name; of an answer that is no valid JSON those that could be read.
        raw: the answer's text where it is no valid answer; else "".
    """

    fields: dict[str, Any]
    raw: str = ""

    def text(self, name: str, longest: int = 600) -> str:
        """A field as one line of text; "" without it."""
        return short_text(self.fields.get(name), longest)

    @property
    def action(self) -> Any:
        """What holds the action: its field, or the whole text where there is no such field."""
        return self.fields["action"] if "action" in self.fields else self.raw


def ask(
    predictor: dspy.Predict, briefing: Briefing, types: Mapping[str, type] | None = None, /, **inputs: Any
) -> Answer:
    """Ask for a step: policy and tools are part of the prompt, the catalogue is the type of the action.

    Args:
        types: of further output fields.
    """
    signature = with_briefing(predictor.signature, briefing.policy, briefing.tools, briefing.now)
    if _only_replies.get():
        signature = signature.with_updated_fields("action", type_=reply_type())
    for name, one in (types or {}).items():
        signature = signature.with_updated_fields(name, type_=one)
    return ask_plain(predictor, briefing.trial, signature=signature, **inputs)


def ask_plain(predictor: dspy.Predict, trial: int, /, **inputs: Any) -> Answer:
    """Ask without a briefing, e.g. for a summary.

    Args:
        trial: see `Briefing`.
    """
    names = list(predictor.signature.output_fields)
    with dspy.context(adapter=CompactAdapter()):
        try:
            predicted = predictor(config=_rollout(trial), **inputs)
        except AdapterParseError as error:
            raw = error.lm_response or ""
            return Answer(fields_of(raw), raw)
    return Answer({name: predicted.get(name) for name in names})


@lru_cache(maxsize=64)
def with_briefing(
    base: type[dspy.Signature], policy: str, tools: Catalogue, now: str | None = None
) -> type[dspy.Signature]:
    """The signature for one briefing: the same text for all steps of an episode, and mostly for all episodes."""
    parts = [base.instructions]
    if policy.strip():
        parts.append(f"Policy:\n{policy.strip()}")
    if now:
        parts.append(f"It is {now}.")
    parts.append(f"Tools:\n{tools.prompt_text()}")
    signature: type[dspy.Signature] = base.with_instructions("\n\n".join(parts))
    return signature.with_updated_fields("action", type_=action_type(tools))


def _rollout(trial: int) -> dict[str, Any]:
    """At temperature 0 all trials are one, and DSPy would warn."""
    temperature = getattr(dspy.settings.lm, "kwargs", {}).get("temperature")
    return {"rollout_id": trial} if trial and temperature != 0 else {}
