"""Which instructions apply (NLSI's first subtask): exact match, precision, recall and F1 over sets of ids.

    score_selection(gold={"2", "5"}, selected={"2"})    # em 0, precision 1, recall 1/2, f1 2/3
    metric = SelectionMetric()                          # F1 of one item, for dspy.Evaluate and the optimizers

A profile that has nothing to say is a case like any other: nothing wanted and nothing selected is right (1 throughout);
where only one of the two is empty all four are 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import dspy

from eval.metrics.fields import field_of
from prefine_dspy.standing import InstructedQuery


class SelectionScore(NamedTuple):
    """One instance; all between 0 and 1."""

    em: float
    precision: float
    recall: float
    f1: float


def score_selection(gold: Iterable[str], selected: Iterable[str]) -> SelectionScore:
    """The score of one instance.

    Args:
        gold: ids of the instructions that apply.
        selected: ids given by a program; repetitions count once, ids that are not in the profile are wrong.
    """
    wanted, given = set(gold), set(selected)
    if not wanted and not given:
        return SelectionScore(1.0, 1.0, 1.0, 1.0)
    right = len(wanted & given)
    if not right:
        return SelectionScore(0.0, 0.0, 0.0, 0.0)
    precision, recall = right / len(given), right / len(wanted)
    return SelectionScore(float(wanted == given), precision, recall, 2 * precision * recall / (precision + recall))


class SelectionMetric:
    """One number for a prediction's `selected` ids, 0 if there are none to read (`parse_failed`, no such field).

    The example holds what applies as `applicable` (ids, or `StandingInstruction`s), or an `InstructedQuery` as
    `request`.

    Args:
        part: which column: "em", "precision", "recall" or "f1".
        feedback: return `dspy.Prediction(score=, feedback=)` in place of the number, for GEPA.
    """

    def __init__(self, part: Literal["em", "precision", "recall", "f1"] = "f1", *, feedback: bool = False) -> None:
        self.part = part
        self.feedback = feedback
        # optimizers record a metric by its name
        self.__name__ = f"selection_{part}{'_with_feedback' if feedback else ''}"

    def __call__(
        self,
        gold: dspy.Example,
        pred: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any:
        """Score a prediction.

        Returns:
            The column as float. While demonstrations are bootstrapped (`trace` without `pred_name`) whether the
            selection is exactly right, as bool: DSPy takes any number but 0 for a success there. With `feedback`, score
            and text.

        Raises:
            ValueError: the example says nothing of what applies.
        """
        wanted, texts = _gold(gold)
        given = _selected(pred)
        score = score_selection(wanted, given) if given is not None else SelectionScore(0.0, 0.0, 0.0, 0.0)
        value = float(getattr(score, self.part))
        if self.feedback:
            return dspy.Prediction(score=value, feedback=_feedback(wanted, given, texts))
        if trace is not None and pred_name is None:
            return score.em == 1.0
        return value


def _feedback(wanted: list[str], given: list[str] | None, texts: dict[str, str]) -> str:
    if given is None:
        return "No selection could be read from the answer."
    named = {name: f"{name} ({texts[name]})" if name in texts else name for name in [*wanted, *given]}
    missed = [named[name] for name in wanted if name not in given]
    spurious = [named[name] for name in given if name not in wanted]
    if not missed and not spurious:
        return "All right: exactly the instructions that apply were selected."
    lines = [f"Missed: {'; '.join(missed)}."] if missed else []
    lines += [f"Selected though not applicable: {'; '.join(spurious)}."] if spurious else []
    return " ".join(lines)


def _gold(example: Any) -> tuple[list[str], dict[str, str]]:
    """The ids that apply, and what is known of instructions' texts."""
    request = field_of(example, "request")
    applicable = field_of(example, "applicable")
    if applicable is None and isinstance(request, InstructedQuery):
        applicable = request.applicable
    if applicable is None:
        raise ValueError(
            "the example has no `applicable`: dspy.Example(request=..., applicable=[id, ...]).with_inputs('request')"
        )
    known = [*applicable, *(request.profile if isinstance(request, InstructedQuery) else ())]
    texts = {one.id: one.text for one in known if not isinstance(one, str)}
    return [one if isinstance(one, str) else one.id for one in applicable], texts


def _selected(pred: Any) -> list[str] | None:
    """The selected ids, None when the answer was unreadable."""
    found = field_of(pred, "selected")
    if bool(field_of(pred, "parse_failed")) or not isinstance(found, list | tuple | set | frozenset):
        return None
    return list(dict.fromkeys(str(getattr(one, "id", one)) for one in found))
