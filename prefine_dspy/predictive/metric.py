"""A memory's metric that needs no gold: does it predict what the user does next?

Works on anyone's call logs. A fluent memory that decides nothing scores as knowing nothing (0.5), a wrong one less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import dspy

from prefine_dspy.predictive.correction import Correction
from prefine_dspy.predictive.kept import hypotheses, named_values
from prefine_dspy.predictive.lift import LiftRule
from prefine_dspy.predictive.lifter import measure_lifts
from prefine_dspy.predictive.observations import observations
from prefine_dspy.predictive.places import places
from prefine_dspy.predictive.verification import Held, predicted_gain, role
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory

RELIABILITY = 0.5
"""See `Held`; the same for all memories, so that they are compared by what they say."""


class PredictiveLikelihood:
    """The predictive log-likelihood of later sessions under a memory, against that under none; between 0 and 1.

    The example holds `later` (sessions after those that the memory was built from) and `tools`; see `examples_of`. The
    prediction holds `memory`. The LM of DSPy's settings predicts.

    Args:
        rule: which moves count.
        correction: see `Correction`.
        with_feedback: return `dspy.Prediction(score=, feedback=)`, for GEPA.
    """

    def __init__(
        self, rule: LiftRule | None = None, correction: Correction | None = None, *, with_feedback: bool = False
    ) -> None:
        self.rule = rule or LiftRule(threshold=0.15)
        self.correction = correction or Correction()
        self.with_feedback = with_feedback
        self.__name__ = "predictive_likelihood"

    def __call__(
        self, gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """The mean gain in nats over the later choices, through the logistic function."""
        memory = pred.get("memory") if hasattr(pred, "get") else getattr(pred, "memory", None)
        memory = memory if isinstance(memory, Memory) else Memory()
        record = observations(gold.later, gold.tools)
        keys = [(one.function, one.argument) for one in record]
        known = {key: named_values(memory) for key in keys}
        lifts = list(
            measure_lifts(hypotheses(memory), places(gold.tools, keys, known), self.correction).by_text.values()
        )
        held = [Held(one, RELIABILITY) for one in lifts]
        gains = [predicted_gain(one, held, self.rule) for one in record]
        score = 1.0 / (1.0 + math.exp(-math.fsum(gains) / len(gains))) if gains else 0.5
        if not self.with_feedback:
            return score
        roles = [{role(one, found.get((one.function, one.argument)), self.rule) for found in lifts} for one in record]
        good = dict.fromkeys(str(one) for one, gain in zip(record, gains, strict=True) if gain > 0)
        bad = dict.fromkeys(str(one) for one, gain in zip(record, gains, strict=True) if gain < 0)
        silent = dict.fromkeys(str(one) for one, said in zip(record, roles, strict=True) if said <= {"unrelated"})
        lines = [f'The note was "{memory.text}".']
        lines += [f"Later choices that it foretold: {'; '.join(good)}."] if good else []
        lines += [f"Later choices that went against it: {'; '.join(bad)}."] if bad else []
        lines += [f"Later choices that it says nothing about: {'; '.join(silent)}."] if silent else []
        return dspy.Prediction(score=score, feedback=" ".join(lines))


def examples_of(histories: Iterable[History], tools: Catalogue, later: float = 0.3) -> list[dspy.Example]:
    """Histories cut in two: `history` to build the memory from, `later` to predict.

    Args:
        histories: those with fewer than two sessions give no example.
        tools: of the histories.
        later: share of the sessions that are predicted, at least one.
    """
    found = []
    for history in histories:
        n = len(history.sessions)
        if n < 2:
            continue
        cut = n - min(n - 1, max(1, round(later * n)))
        past = history.model_copy(update={"sessions": history.sessions[:cut]})
        example = dspy.Example(history=past, tools=tools, later=history.sessions[cut:])
        found.append(example.with_inputs("history", "tools"))
    return found
