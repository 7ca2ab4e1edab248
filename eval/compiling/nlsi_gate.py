"""TAPS's gate: the estimator and the threshold that do best on dev (TAPS section 3.2, Table 8).

Every dev request is answered without and with tags; for each estimator the threshold is chosen over both columns of
scores, and of the estimators the one with the best mean. What the uncertainties are worth is shown beside it: their
correlation with the F1 of the first answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from eval.metrics.nlsi_score import NlsiScore
from prefine_dspy.errors import InputError
from prefine_dspy.gate import ESTIMATORS, Estimator, Threshold, choose_threshold

Part = Literal["em", "f1"]
# less than one exact match among any number of dev examples there is
TIE_BREAKER = 1e-4


class Case(NamedTuple):
    """One dev request.

    Args:
        uncertainty: of the first answer, by estimator; empty where the answer could not be read. As for `Gate`, an
            uncertainty that is not known counts as unsure.
        default, tagged: the scores without and with tags.
        gated: it has instructions; without any there is nothing to tag and the first answer stands.
    """

    uncertainty: dict[str, float]
    default: NlsiScore
    tagged: NlsiScore
    gated: bool


class Row(NamedTuple):
    """What an estimator can do on dev.

    Args:
        pearson: of the uncertainty with the default answer's F1, or None where one of them does not vary.
        threshold: the best one; its score is that of all requests, `tagged` the share of those with instructions.
        em, f1: mean with the gate.
    """

    estimator: Estimator
    pearson: float | None
    threshold: Threshold
    em: float
    f1: float


def rows_of(cases: Sequence[Case], part: Part) -> list[Row]:
    """By estimator that every case with a known uncertainty has, best first; of equal ones that which tags less.

    Raises:
        InputError: there is nothing to choose on.
    """
    gated = [case for case in cases if case.gated]
    if not gated:
        raise InputError(
            "the gate needs dev requests with instructions: raise --dev-instances, or leave out --part gate"
        )
    known = [case for case in cases if case.uncertainty]
    found = []
    for name in ESTIMATORS:
        if known and all(name in case.uncertainty for case in known):
            found.append(_row(name, cases, gated, part))
    if not found:
        raise InputError("the LM gives no log-probabilities, and no samples were taken: the gate cannot be set")
    return sorted(found, key=lambda row: (-_goodness(row, part), row.threshold.tagged))


def table(rows: Sequence[Row], cases: Sequence[Case]) -> str:
    """Table 8's form, and what the gate does."""
    n = len(cases)
    plain, tagged = ([getattr(case, side) for case in cases] for side in ("default", "tagged"))
    lines = [f"{'estimator':<18}{'Pearson, F1':>12}{'threshold':>11}{'tagged %':>10}{'EM':>7}{'F1':>7}   (dev, n {n})"]
    for row in rows:
        r = "-" if row.pearson is None else f"{row.pearson:.2f}"
        figures = f"{100 * row.threshold.tagged:>10.1f}{100 * row.em:>7.1f}{100 * row.f1:>7.1f}"
        lines.append(f"{row.estimator:<18}{r:>12}{row.threshold.value:>11.3f}{figures}")
    for label, side, share in (("never tagged", plain, 0.0), ("always tagged", tagged, 100.0)):
        em, f1 = (100 * _mean([getattr(score, part) for score in side]) for part in ("em", "f1"))
        lines.append(f"{label:<18}{'':>12}{'':>11}{share:>10.1f}{em:>7.1f}{f1:>7.1f}")
    return "\n".join(lines)


def record(rows: Sequence[Row]) -> dict[str, dict[str, float | None]]:
    """The table for the manifest, by estimator."""
    return {
        row.estimator: {
            "pearson_f1": row.pearson,
            "threshold": round(row.threshold.value, 6),
            "tagged": round(row.threshold.tagged, 4),
            "em": round(row.em, 4),
            "f1": round(row.f1, 4),
        }
        for row in rows
    }


def _row(name: Estimator, cases: Sequence[Case], gated: Sequence[Case], part: Part) -> Row:
    chosen = choose_threshold(
        [_unsure(case, name) for case in gated],
        [_worth(case.default, part) for case in gated],
        [_worth(case.tagged, part) for case in gated],
    )
    final = [case.tagged if case.gated and _unsure(case, name) >= chosen.value else case.default for case in cases]
    em, f1 = _mean([score.em for score in final]), _mean([score.f1 for score in final])
    threshold = chosen._replace(score=em if part == "em" else f1)
    measured = [case for case in cases if name in case.uncertainty]
    r = pearson([case.uncertainty[name] for case in measured], [case.default.f1 for case in measured])
    return Row(name, r, threshold, em, f1)


def _unsure(case: Case, name: Estimator) -> float:
    return case.uncertainty.get(name, math.inf)


def _worth(score: NlsiScore, part: Part) -> float:
    """The wanted figure; the other one decides between equals."""
    if part == "em":
        return score.em + TIE_BREAKER * score.f1
    return score.f1 + TIE_BREAKER * score.em


def _goodness(row: Row, part: Part) -> float:
    return row.em + TIE_BREAKER * row.f1 if part == "em" else row.f1 + TIE_BREAKER * row.em


def pearson(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Pearson's r, None where one side does not vary."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(x) < 2 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return round(float(np.corrcoef(x, y)[0, 1]), 4)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
