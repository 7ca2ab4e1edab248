"""One answer to an NLSI instance as it is written down: by both scorers, with what the program did on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dspy

from eval.data.nlsi import NlsiInstance
from eval.failures import Failure
from eval.grading import Status
from eval.items import Answered, answered, calls_in
from eval.metrics import nlsi_reference, nlsi_strict
from eval.metrics.error_categories import categories
from eval.metrics.selection import SelectionScore, score_selection
from eval.tasks.task import Record
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

SCORERS = ("strict", "reference")
SELECTS_ONLY = ("select",)
"""Programs for NLSI's first subtask alone: they call nothing."""
_NO_SELECTION = SelectionScore(0.0, 0.0, 0.0, 0.0)


def record_of(
    system: str,
    instance: NlsiInstance,
    tools: Catalogue,
    prediction: dspy.Prediction | None,
    failure: Failure | None,
) -> Record:
    """What items.jsonl holds of one item between its id and its usage.

    Items of a program that only selects instructions have a `selection` and no `scores`. What a program does not do
    (select, tag, measure its uncertainty, answer twice) is None.

    Args:
        system: the program's registered name.
        instance: what was asked.
        tools: the catalogue, for the types of arguments.
        prediction: the answer; None when there is none.
        failure: why there is none; the item then counts as an empty answer.
    """
    answer = answered(prediction)
    selects_only = system in SELECTS_ONLY
    unusable = failure is not None or answer.parse_failed
    scores = None if selects_only else score(instance, answer.calls, tools, unusable=unusable)
    selected = _texts(getattr(prediction, "selected", None))
    selection = _selection(instance, [] if selects_only and selected is None else selected, unusable)
    tags, tagged = _texts(getattr(prediction, "tags", None)), getattr(prediction, "tagged", None)
    asked, first = getattr(prediction, "tagger_calls", None), getattr(prediction, "first_calls", None)
    return {
        "system": system,
        "reasoning_type": instance.reasoning_type,
        "dialogue_id": instance.dialogue_id,
        "status": _status(instance, answer, failure, scores, selection),
        "calls": [call.model_dump(mode="json") for call in answer.calls],
        "raw": answer.raw,
        "problems": answer.problems,
        "gold": list(instance.gold),
        "scores": scores,
        "error_kinds": None if selects_only else _errors(instance, answer.calls, tools, unusable),
        "selected": selected,
        "selection": selection._asdict() if selection else None,
        "tags": tags,
        "instructions": len(instance.request.applicable),
        "tagged": None if tagged is None else bool(tagged),
        "tagger_calls": asked if isinstance(asked, int) else None,
        "uncertainty": _numbers(getattr(prediction, "uncertainty", None)),
        "first_calls": None if first is None else [call.model_dump(mode="json") for call in calls_in(first)],
        "first_scores": None if first is None else score(instance, calls_in(first), tools),
    }


def score(
    instance: NlsiInstance, calls: Sequence[ToolCall], tools: Catalogue, unusable: bool = False
) -> dict[str, Any]:
    """By scorer, the figures of one answer (`NlsiScore`); an unusable one scores as an answer without calls.

    The published evaluator reads text; calls are handed to it as call strings, one a line, the form it reads best.
    """
    strict = nlsi_strict.score_calls(instance.gold_calls(), calls, parse_failed=unusable, catalogue=tools)
    reference = nlsi_reference.score_calls(instance.gold, "\n".join(str(call) for call in calls))
    return {"strict": strict._asdict(), "reference": reference._asdict()}


def _errors(instance: NlsiInstance, calls: Sequence[ToolCall], tools: Catalogue, unusable: bool) -> dict[str, int]:
    """How often each kind of error is in the answer."""
    found = categories(instance.gold_calls(), calls, parse_failed=unusable, catalogue=tools)
    return {kind: count for kind, count in found.items()}


def _status(
    instance: NlsiInstance,
    answer: Answered,
    failure: Failure | None,
    scores: dict[str, Any] | None,
    selection: SelectionScore | None,
) -> Status:
    """ok: every slot right, none too much, and the right number of calls; of a program that only selects: exactly the
    instructions that apply."""
    if failure:
        return failure.status
    if answer.parse_failed:
        return "parse_error"
    if scores is None:
        return "ok" if selection and selection.em == 1 else "wrong"
    if scores["strict"]["em_length_checked"] == 1:
        return "ok"
    return "wrong" if answer.calls else "abstained"


def _selection(instance: NlsiInstance, selected: list[str] | None, unusable: bool) -> SelectionScore | None:
    """An unusable answer selects nothing and is wrong, also where nothing applies."""
    if unusable:
        return _NO_SELECTION
    if selected is None:
        return None
    return score_selection([one.id for one in instance.request.applicable], selected)


def _texts(values: Any) -> list[str] | None:
    return [str(one) for one in values] if isinstance(values, list | tuple) else None


def _numbers(values: Any) -> dict[str, float] | None:
    """Finite numbers by name; None when there are none."""
    if not isinstance(values, dict):
        return None
    found = {str(name): value for name, value in values.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in found.items() if math.isfinite(value)} or None
