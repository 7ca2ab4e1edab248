"""An answer against its gold, by both scorers, and the item's status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from eval.failures import Failure
from eval.instance import Instance
from eval.metrics import reference, slots
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

Status = Literal["ok", "wrong", "abstained", "parse_error", "lm_error"]
STATUSES: tuple[Status, ...] = ("ok", "wrong", "abstained", "parse_error", "lm_error")


class Grade(NamedTuple):
    """Args:
    status: ok (every argument right, none too much), wrong, abstained (a readable answer that calls nothing),
        parse_error (an answer that cannot be read), lm_error (no answer; scored as an empty one).
    scores: by scorer ("strict", "reference"), the item's counts in the form of `eval.score`.
    """

    status: Status
    scores: dict[str, dict[str, Any]]


def grade(
    instance: Instance,
    calls: Sequence[ToolCall],
    preference_slots: Mapping[str, Sequence[str]],
    failure: Failure | None = None,
    parse_failed: bool = False,
    catalogue: Catalogue | None = None,
) -> Grade:
    """Score one answer. A failure scores as an answer without calls, so that it is never left out of the counts.

    The published evaluator reads text; calls are handed to it as MPT's call strings, the form it reads best.
    """
    parse_failed = parse_failed or bool(failure and failure.status == "parse_error")
    strict = slots.score_item(instance.gold, calls, preference_slots, parse_failed=parse_failed, catalogue=catalogue)
    published = reference.score_item(
        [str(call) for call in instance.gold], [str(call) for call in calls], preference_slots
    )
    status: Status
    if failure:
        status = failure.status
    elif parse_failed:
        status = "parse_error"
    elif strict.abstained and instance.gold:
        status = "abstained"
    else:
        status = "wrong" if strict.overall.fp or strict.overall.fn or not strict.function_right else "ok"
    return Grade(status, {"strict": strict.as_dict(), "reference": published.as_dict()})
