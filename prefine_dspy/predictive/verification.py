"""Is a hypothesis borne out by what the user did? Pure functions over lifts and observations.

PRefine section 7.1 counts supporting, competing and unrelated observations from an annotation of preferences; here the
same counts come from predictions, for any hypothesis: an observation of an argument that the hypothesis does not move
is unrelated; of one that it moves, supporting if the chosen value became likelier and competing if it did not.

Log-likelihoods are taken over moved arguments only. Summed over all of them, what a hypothesis says nothing about
drowns what it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from prefine_dspy.predictive.lift import Lift, LiftRule
from prefine_dspy.predictive.observations import Observation
from prefine_dspy.predictive.places import Key

Role = Literal["supporting", "competing", "unrelated"]
HypothesisLifts = Mapping[Key, Lift]
MIN_FUNCTIONS = 2
MIN_SESSIONS = 2
MOST_GAIN = 3.0
"""Nats that one observation can win or lose: no single surprise decides."""
MIN_GAIN = 0.5
"""Nats that a further hypothesis must win to be worth its tokens: about one observation predicted 1.6 times better."""

_ROUNDING = 1e-9  # of sums of weights


class Tally(NamedTuple):
    """The observations of a record for one hypothesis.

    Args:
        supporting, competing: weights of the observations.
        supports, contradictions: the observations themselves, oldest first.
    """

    supporting: float
    competing: float
    supports: tuple[Observation, ...]
    contradictions: tuple[Observation, ...]

    @property
    def confidence(self) -> float:
        """Share of the supporting weight, 0 without evidence."""
        total = self.supporting + self.competing
        return self.supporting / total if total else 0.0

    @property
    def reliability(self) -> float:
        """How far the hypothesis holds for this user: 1 without exceptions, 0 when exceptions are half."""
        return max(0.0, 2 * self.confidence - 1)


class Held(NamedTuple):
    """A hypothesis that predicts.

    Args:
        lifts: by (function, argument).
        reliability: the prediction is this part of the hypothesis's and else that of knowing nothing. An LM is surer of
            what follows from a preference than users are true to theirs.
    """

    lifts: HypothesisLifts
    reliability: float


class Verdict(NamedTuple):
    """Args:
    accepted: the hypothesis may be remembered.
    tally: for and against it.
    gain: nats by which it predicts left-out sessions better than knowing nothing.
    feedback: what speaks against it, for the refiner; empty when it is accepted.
    """

    accepted: bool
    tally: Tally
    gain: float
    feedback: str


def role(observation: Observation, lift: Lift | None, rule: LiftRule) -> Role:
    """What an observation says about a hypothesis.

    Args:
        lift: of the hypothesis at the observation's argument; None when it cannot say anything there.
        rule: which moves count.
    """
    ratio = None if lift is None else lift.log_ratio(observation.value)
    if lift is None or ratio is None or not rule.moves(lift):
        return "unrelated"
    return "supporting" if ratio > 0 else "competing"


def tally(record: Sequence[Observation], lifts: HypothesisLifts, rule: LiftRule, weights: Mapping[str, float]) -> Tally:
    """Count a record for a hypothesis.

    Args:
        record: oldest first.
        lifts: of the hypothesis.
        rule: which moves count.
        weights: of the sessions.
    """
    roles = [role(one, lifts.get((one.function, one.argument)), rule) for one in record]
    by_role = {
        name: tuple(one for one, is_ in zip(record, roles, strict=True) if is_ == name)
        for name in ("supporting", "competing")
    }
    return Tally(
        math.fsum(weights[one.session] for one in by_role["supporting"]),
        math.fsum(weights[one.session] for one in by_role["competing"]),
        by_role["supporting"],
        by_role["competing"],
    )


def predicted_gain(observation: Observation, held: Sequence[Held], rule: LiftRule) -> float:
    """Nats by which some hypotheses together predict an observation better than knowing nothing.

    The one that moves its argument most is asked; where none moves it, the prediction is that of knowing nothing.
    """
    key = (observation.function, observation.argument)
    moving = [one for one in held if key in one.lifts and rule.moves(one.lifts[key])]
    if not moving:
        return 0.0
    best = max(moving, key=lambda one: one.lifts[key].by(rule.measure))
    ratio = best.lifts[key].log_ratio(observation.value)
    if ratio is None:
        return 0.0
    mixed = 1.0 + best.reliability * (math.exp(ratio) - 1.0)
    return max(-MOST_GAIN, min(MOST_GAIN, math.log(max(mixed, math.exp(-MOST_GAIN)))))


def held_out_gain(
    record: Sequence[Observation], held: Sequence[HypothesisLifts], rule: LiftRule, weights: Mapping[str, float]
) -> float:
    """Nats by which hypotheses predict each session better than knowing nothing, if the session is left out.

    For a left-out session only those hypotheses are asked that the other sessions support, and do not speak against; so
    a hypothesis that a single session speaks for wins nothing with it.
    """
    gain = 0.0
    by_session: dict[str, list[Observation]] = {}
    for one in record:
        by_session.setdefault(one.session, []).append(one)
    # what each session says for and against each hypothesis; a left-out one is taken away from the sum
    parts = [{id: tally(those, lifts, rule, weights) for id, those in by_session.items()} for lifts in held]
    wholes = [tally(record, lifts, rule, weights) for lifts in held]
    for session, left_out in by_session.items():
        borne_out = []
        for lifts, part, whole in zip(held, parts, wholes, strict=True):
            supporting = whole.supporting - part[session].supporting
            competing = whole.competing - part[session].competing
            if supporting > _ROUNDING and supporting >= competing - _ROUNDING:
                borne_out.append(Held(lifts, whole.reliability))
        gain += weights[session] * math.fsum(predicted_gain(one, borne_out, rule) for one in left_out)
    return gain


def verdict(
    record: Sequence[Observation], lifts: HypothesisLifts, rule: LiftRule, weights: Mapping[str, float]
) -> Verdict:
    """Judge one hypothesis on its own.

    It is accepted when supporting observations strictly outnumber competing ones, come from at least `MIN_FUNCTIONS`
    functions and `MIN_SESSIONS` sessions, and it predicts left-out sessions better than knowing nothing.
    """
    found = tally(record, lifts, rule, weights)
    gain = held_out_gain(record, [lifts], rule, weights)
    functions = {one.function for one in found.supports}
    sessions = {one.session for one in found.supports}
    accepted = (
        found.supporting > found.competing
        and len(functions) >= MIN_FUNCTIONS
        and len(sessions) >= MIN_SESSIONS
        and gain > 0
    )
    return Verdict(accepted, found, gain, "" if accepted else _feedback(found, functions, sessions))


def select(
    record: Sequence[Observation],
    candidates: Mapping[str, HypothesisLifts],
    rule: LiftRule,
    weights: Mapping[str, float],
    old: Collection[str] = (),
    most: int = 3,
) -> list[str]:
    """The hypotheses to keep: accepted ones that together predict left-out sessions best.

    Args:
        record: oldest first.
        candidates: lifts by text; earlier ones win ties, so put the old memory first.
        rule: which moves count.
        weights: of the sessions.
        old: texts of the old memory. Something else is chosen only when it predicts left-out sessions better.
        most: how many are kept at the most.

    Returns:
        Their texts, the one that explains most first.
    """
    fit = [text for text, lifts in candidates.items() if verdict(record, lifts, rule, weights).accepted]

    def gain_of(texts: Sequence[str]) -> float:
        return held_out_gain(record, [candidates[text] for text in texts], rule, weights)

    chosen = _greedy(fit, gain_of, most)
    # what is left of the old memory stays, unless another choice is really better
    if still := [text for text in old if text in fit][:most]:
        grown = _pruned(_greedy(fit, gain_of, most, start=still), gain_of)
        if gain_of(chosen) <= gain_of(grown) + MIN_GAIN:
            return grown
    return chosen


def _greedy(
    fit: Sequence[str], gain_of: Callable[[Sequence[str]], float], most: int, start: Sequence[str] = ()
) -> list[str]:
    chosen = list(start)
    gain = gain_of(chosen) if chosen else 0.0
    while len(chosen) < most:
        rest = [text for text in fit if text not in chosen]
        best = max(rest, key=lambda text: gain_of([*chosen, text]), default=None)
        if best is None:
            break
        reached = gain_of([*chosen, best])
        # the first one must only be better than nothing
        if reached <= gain + (MIN_GAIN if chosen else 0.0):
            break
        chosen, gain = [*chosen, best], reached
    return chosen


def _pruned(texts: Sequence[str], gain_of: Callable[[Sequence[str]], float]) -> list[str]:
    """Without those that the others make superfluous."""
    kept = list(texts)
    while len(kept) > 1:
        without = {text: gain_of([one for one in kept if one != text]) for text in kept}
        least = max(without, key=lambda text: without[text])
        if without[least] <= gain_of(kept) - MIN_GAIN:
            break
        kept.remove(least)
    return kept


def _feedback(found: Tally, functions: set[str], sessions: set[str], most: int = 4) -> str:
    against = "; ".join(dict.fromkeys(map(str, found.contradictions[-most:])))
    lines = [f"these choices contradict it: {against}"] if against else []
    if not found.supports:
        lines.append("no choice of this user follows from it: say which kind of values they prefer")
    elif len(functions) < MIN_FUNCTIONS or len(sessions) < MIN_SESSIONS:
        supports = "; ".join(dict.fromkeys(map(str, found.supports[-most:])))
        lines.append(f"only these choices follow from it: {supports}: say what they share with choices in other tools")
    return ". ".join(lines) or "it does not predict other sessions of this user"
