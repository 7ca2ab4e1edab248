"""PredictiveVerifier: the LM's part and the pure part together. Judges hypotheses of a user against their record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prefine_dspy.lm.values.ask import Asked
from prefine_dspy.predictive.correction import Correction
from prefine_dspy.predictive.lift import Lift, LiftRule
from prefine_dspy.predictive.lifter import measure_lifts
from prefine_dspy.predictive.observations import Observation, observations, session_weights
from prefine_dspy.predictive.places import Key, places
from prefine_dspy.predictive.verification import Verdict, select, verdict
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Session

MAX_PLACES = 12
"""Arguments that a new hypothesis is held against, those chosen most often first: each costs a question."""


class Judged(NamedTuple):
    """Args:
    verdicts: by hypothesis.
    lifts: by hypothesis, then by (function, argument).
    asked: what it took of the LM.
    """

    verdicts: dict[str, Verdict]
    lifts: dict[str, dict[Key, Lift]]
    asked: Asked


class PredictiveVerifier:
    """Args:
    rule: which moves count; chosen on dev. Larger than the caller's: here a small move is noise.
    half_life: in sessions; recent sessions weigh more, so that the memory follows a user who changes. A change shows
        after at most one session more than this (`observations.sessions_to_change`). None weighs all alike.
    correction: of what the LM expects of users whom it knows nothing about.
    """

    def __init__(
        self, rule: LiftRule | None = None, half_life: float | None = None, correction: Correction | None = None
    ) -> None:
        self.rule = rule or LiftRule(threshold=0.15)
        self.half_life = half_life
        self.correction = correction or Correction()

    def judge(self, hypotheses: Sequence[str], sessions: Sequence[Session], tools: Catalogue) -> Judged:
        """Every hypothesis on its own, in one batch.

        Args:
            hypotheses: texts.
            sessions: of the user, oldest first.
            tools: tells what may be chosen, and what is transient.
        """
        record, weights = self.record(sessions, tools), self.weights(sessions)
        measured = measure_lifts(hypotheses, places(tools, _keys(record), _known(record)), self.correction)
        verdicts = {text: verdict(record, lifts, self.rule, weights) for text, lifts in measured.by_text.items()}
        return Judged(verdicts, measured.by_text, measured.asked)

    def select(
        self, judged: Judged, sessions: Sequence[Session], tools: Catalogue, old: Sequence[str], most: int
    ) -> list[str]:
        """The hypotheses to keep; see `verification.select`."""
        return select(self.record(sessions, tools), judged.lifts, self.rule, self.weights(sessions), old, most)

    def record(self, sessions: Sequence[Session], tools: Catalogue) -> list[Observation]:
        """The observations that hypotheses are held against."""
        found = observations(sessions, tools)
        kept = set(_keys(found))
        return [one for one in found if (one.function, one.argument) in kept]

    def weights(self, sessions: Sequence[Session]) -> dict[str, float]:
        """By session id. Sessions without evidence make no other session older."""
        return session_weights([session.id for session in sessions if session.calls], self.half_life)


def _keys(record: Sequence[Observation]) -> list[Key]:
    """The arguments that were chosen most often, the latest first among equals."""
    count: dict[Key, int] = {}
    last: dict[Key, int] = {}
    for at, one in enumerate(record):
        key = (one.function, one.argument)
        count[key] = count.get(key, 0) + 1
        last[key] = at
    return sorted(count, key=lambda key: (-count[key], -last[key]))[:MAX_PLACES]


def _known(record: Sequence[Observation]) -> dict[Key, list[str]]:
    found: dict[Key, list[str]] = {}
    for one in record:
        values = found.setdefault((one.function, one.argument), [])
        if one.value not in values:
            values.append(one.value)
    return found
