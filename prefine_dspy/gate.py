"""TAPS's tool detector: is the LM so unsure of its answer that the tagger is worth its calls? (TAPS section 3.2)

Uncertainty is read off the log-probabilities of the answer that is there anyway, in one pass. The paper ranks whole
beams; with one greedy answer its rivals are the answers that differ from it in one token, taken up where the LM itself
listed another token. Where an LM gives no log-probabilities, `disagreement` asks for samples instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from prefine_dspy.confidence import Token
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

Estimator = Literal["least_confidence", "sequence_margin", "margin_at_t", "weakest_argument", "disagreement"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)
MARGIN_TOKENS = 2
GRID = 100
"""Thresholds that are tried: 0, 1/99, ... 1, as in the published code."""


class Gate(BaseModel):
    """When to call the tagger.

    Args:
        estimator: which uncertainty is looked at.
        threshold: from this uncertainty on the tagger is called; 0 calls it always, more than 1 never. Chosen on
            validation data (`choose_threshold`); the paper's are 0.01 to 0.04, for least confidence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    estimator: Estimator = "least_confidence"
    threshold: float = 0.02

    def unsure(self, uncertainty: Mapping[str, float]) -> bool:
        """Whether to tag. An answer whose uncertainty is not known counts as unsure: the tagger costs calls, a wrong
        answer more."""
        return uncertainty.get(self.estimator, math.inf) >= self.threshold


def gate_of(estimator: str, threshold: float) -> Gate:
    """The gate of a program's options.

    Raises:
        InputError: no such estimator, or a threshold that is no number.
    """
    if estimator not in ESTIMATORS:
        raise InputError(f"estimator must be one of {', '.join(ESTIMATORS)}, not {estimator!r}")
    try:
        gate = Gate.model_validate({"estimator": estimator, "threshold": threshold})
    except ValidationError:
        gate = None
    if gate is None or isinstance(threshold, bool) or math.isnan(gate.threshold):  # nothing is as large as NaN
        raise InputError(f"threshold must be a number, e.g. 0.02, not {threshold!r}")
    return gate


def uncertainties(tokens: Sequence[Token], arguments: Sequence[Mapping[str, float]] = ()) -> dict[str, float]:
    """Every estimator that an answer's log-probabilities allow, each in [0, 1], higher for less sure.

    - least_confidence: 1 - exp(mean log-probability of the tokens), the published code's length-normalised form.
    - sequence_margin: 1 - (p1 - p2), p1 that same probability of the answer, p2 that of its best rival: the answer with
      one token exchanged for the alternative that the LM found likeliest there.
    - margin_at_t: 1 - the mean over tokens of the gap between the two most likely ones (T = 2).
    - weakest_argument: 1 - the probability of the least sure argument's value (ours).

    Args:
        tokens: of the answer, with alternatives (`confidence.read_tokens`); empty gives {}, and so does a value that is
            no log-probability (NaN, above 0): it says nothing, least of all that the answer is sure.
        arguments: by call, the probability of each argument's value (`confidence.confidences`).
    """
    found: dict[str, float] = {}
    if tokens and all(map(_is_log_probability, _logprobs(tokens))):
        mean = math.fsum(token.logprob for token in tokens) / len(tokens)
        best = math.exp(mean)
        found["least_confidence"] = 1.0 - best
        rivals = [rival - token.logprob for token in tokens if (rival := _rival(token)) is not None]
        if rivals:
            found["sequence_margin"] = 1.0 - max(0.0, best - math.exp(min(0.0, mean + max(rivals) / len(tokens))))
            found["margin_at_t"] = 1.0 - math.fsum(_gap(token) for token in tokens) / len(tokens)
    values = [probability for call in arguments for probability in call.values()]
    if values:
        found["weakest_argument"] = 1.0 - min(values)
    return {name: round(min(1.0, max(0.0, value)), 6) for name, value in found.items()}


def disagreement(answer: Sequence[ToolCall], samples: Sequence[Sequence[ToolCall]]) -> float:
    """The share of sampled answers whose calls differ from the answer's, in [0, 1]; for LMs without log-probabilities.

    Raises:
        ValueError: no samples.
    """
    if not samples:
        raise ValueError("disagreement needs at least one sample")
    own = _as_set(answer)
    return sum(_as_set(one) != own for one in samples) / len(samples)


class Threshold(NamedTuple):
    """A threshold and what it did on the data that it was chosen on.

    Args:
        value: of `Gate.threshold`.
        score: mean score with the gate.
        tagged: share of examples, 0 to 1, for which the tagger would be called.
    """

    value: float
    score: float
    tagged: float


def choose_threshold(
    uncertainty: Sequence[float], default: Sequence[float], tagged: Sequence[float], fewest_calls: bool = True
) -> Threshold:
    """The threshold with the best mean score over a validation set.

    Args:
        uncertainty: of the default answer, one an example.
        default, tagged: the scores of the answer without and with tags, in the same order.
        fewest_calls: of equal scores take the largest threshold, which calls the tagger least; False takes the
            smallest, as the published code does.

    Raises:
        ValueError: no examples, or lists of different lengths.
    """
    if not uncertainty or not len(uncertainty) == len(default) == len(tagged):
        raise ValueError("one uncertainty, default score and tagged score for each validation example")
    never = math.nextafter(1.0, 2.0)
    best: Threshold | None = None
    for value in [step / (GRID - 1) for step in range(GRID)] + ([never] if fewest_calls else []):
        rows = zip(uncertainty, default, tagged, strict=True)
        scores = [with_tags if unsure >= value else plain for unsure, plain, with_tags in rows]
        mean, share = math.fsum(scores) / len(scores), sum(one >= value for one in uncertainty) / len(scores)
        if best is None or mean > best.score or (fewest_calls and math.isclose(mean, best.score)):
            best = Threshold(value, mean, share)
    assert best is not None
    return best


def _logprobs(tokens: Sequence[Token]) -> Iterator[float]:
    for token in tokens:
        yield token.logprob
        yield from (logprob for _, logprob in token.alternatives)


def _is_log_probability(value: float) -> bool:
    return value <= 0  # NaN is not


def _rival(token: Token) -> float | None:
    """The log-probability of the likeliest other token, or None when none was listed."""
    others = [logprob for text, logprob in token.alternatives if text != token.text]
    return max(others, default=None)


def _gap(token: Token) -> float:
    """Between the two most likely tokens at this place, the chosen one among them or not."""
    ranked = sorted({**dict(token.alternatives), token.text: token.logprob}.values(), reverse=True)[:MARGIN_TOKENS]
    return math.exp(ranked[0]) - (math.exp(ranked[1]) if len(ranked) > 1 else 0.0)


def _as_set(calls: Sequence[ToolCall]) -> frozenset[tuple[str, frozenset[tuple[str, str, str]]]]:
    return frozenset((call.name, frozenset(call.triplets())) for call in calls)
