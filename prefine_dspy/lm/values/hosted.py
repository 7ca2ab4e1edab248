"""Distributions from LMs that measure nothing: from one answer's listed alternatives, or from the share of answers."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import dspy
from dspy import lm15

from prefine_dspy.lm.values.distribution import ValueDistribution
from prefine_dspy.lm.values.question import ValueQuestion, written

ALTERNATIVES = 20
"""Alternatives asked for at each token: what hosted LMs give at the most."""
MAX_TOKENS = 80
SAMPLES = 8
SAMPLING_TEMPERATURE = 1.0


def from_logprobs(lm: dspy.BaseLM, question: ValueQuestion) -> ValueDistribution | None:
    """The distribution along one answer, or None when the LM gave nothing to read it from.

    Alternatives are known only where the answer took another way; values that part after such a place share what was
    listed for it, and `missing_mass` says how much that is.
    """
    config: dict[str, Any] = {"logprobs": ALTERNATIVES, "max_tokens": MAX_TOKENS, **_temperature(lm)}
    response = lm(question.answering(lm.model, bool(lm.supports_response_schema), **config))
    return _along(tuple(response.logprobs or ()), question)


def from_samples(lm: dspy.BaseLM, question: ValueQuestion, n: int = SAMPLES) -> ValueDistribution:
    """The share of `n` answers, with one more answer spread over all values so that none is impossible."""
    found: Counter[str] = Counter()
    for number in range(n):
        config: dict[str, Any] = {"max_tokens": MAX_TOKENS, "temperature": SAMPLING_TEMPERATURE}
        request = question.answering(lm.model, bool(lm.supports_response_schema), **config)
        # rollout_id: the same question again, not the cached answer
        value = _value_in(lm(request, rollout_id=number + 1), question)
        if value is not None:
            found[value] += 1
    read = sum(found.values())
    each = 1.0 / len(question.values)
    shares = tuple((found[value] + each) / (read + 1) for value in question.values)
    return ValueDistribution(question.values, shares, "samples", missing_mass=(n - read) / n if n else 1.0)


def offers_logprobs(lm: dspy.BaseLM) -> bool:
    """Whether the LM says that it gives alternatives."""
    return {"logprobs", "top_logprobs"} <= set(lm.supported_params)


def _temperature(lm: dspy.BaseLM) -> dict[str, float]:
    """That of the LM: reasoning models take none."""
    value = lm.kwargs.get("temperature")
    return {} if value is None else {"temperature": value}


def _value_in(response: lm15.Response, question: ValueQuestion) -> str | None:
    text = response.text or ""
    try:
        answer = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return None
    value = answer.get(question.field) if isinstance(answer, dict) else None
    known = {one.casefold(): one for one in question.values}
    return known.get(value.casefold()) if isinstance(value, str) else None


def _along(tokens: Sequence[Any], question: ValueQuestion) -> ValueDistribution | None:
    pieces = [_bytes(one) for one in tokens]
    start = _start(b"".join(pieces), question)
    if start is None:
        return None
    alive = {value: written(value)[1:].encode("utf-8") for value in question.values}
    mass = dict.fromkeys(question.values, 0.0)
    here, missing, position, before = 1.0, 0.0, 0, b""
    for token, piece in zip(tokens, pieces, strict=True):
        end = position + len(piece)
        if end > start and len(alive) > 1:
            cut = max(0, start - position)
            shares, undecided = _shares(token, piece, cut, before, alive)
            for other, share in shares.items():
                fitting = [value for value, text in alive.items() if _fits(other, before, text)]
                if other == piece[cut:]:
                    continue
                for value in fitting:
                    mass[value] += here * share / len(fitting)
                missing += here * share if len(fitting) > 1 else 0.0
            for value, share in undecided.items():
                mass[value] += here * share
                missing += here * share
            here *= shares.get(piece[cut:], 0.0)
            alive = {value: text for value, text in alive.items() if _fits(piece[cut:], before, text)}
            before += piece[cut:]
        position = end
    for value in alive:
        mass[value] += here / len(alive)
    missing += here if len(alive) > 1 else 0.0
    total = math.fsum(mass.values())
    if total <= 0:
        return None
    probabilities = tuple(mass[value] / total for value in question.values)
    return ValueDistribution(question.values, probabilities, "logprobs", missing_mass=min(1.0, missing / total))


def _shares(
    token: Any, piece: bytes, cut: int, before: bytes, alive: dict[str, bytes]
) -> tuple[dict[bytes, float], dict[str, float]]:
    """Among what may stand at this place: the share of every listed piece, and bounds for values that no piece leads
    to. They sum to 1."""
    listed = {_bytes(one): _probability(one) for one in token.top or ()}
    listed[piece] = _probability(token)
    here = {text[cut:]: p for text, p in listed.items() if text[:cut] == piece[:cut] and len(text) > cut}
    leading = {text: p for text, p in here.items() if any(_fits(text, before, written_) for written_ in alive.values())}
    lost = [value for value, text in alive.items() if not any(_fits(one, before, text) for one in leading)]
    rest = max(0.0, 1.0 - math.fsum(listed.values()))
    bound = min(min(listed.values()), rest / len(lost)) if lost else 0.0
    total = math.fsum(leading.values()) + bound * len(lost) or 1.0
    return {text: p / total for text, p in leading.items()}, {value: bound / total for value in lost}


def _fits(piece: bytes, before: bytes, text: bytes) -> bool:
    """Whether a value, written with its closing quotation mark, can go on with the piece."""
    if not text.startswith(before):
        return False
    rest = text[len(before) :]
    return bool(rest) and (rest.startswith(piece) or piece.startswith(rest))


def _start(text: bytes, question: ValueQuestion) -> int | None:
    """Where the value's first character stands in the answer."""
    name = json.dumps(question.field, ensure_ascii=False).encode("utf-8")
    at = text.rfind(name)
    quote = text.find(b'"', at + len(name)) if at >= 0 else -1
    if quote < 0 or text[at + len(name) : quote].strip() != b":":
        return None
    return quote + 1


def _bytes(token: Any) -> bytes:
    return bytes(token.bytes) if token.bytes else str(token.token).encode("utf-8", "replace")


def _probability(token: Any) -> float:
    value = float(token.logprob)
    return math.exp(min(0.0, value)) if not math.isnan(value) else 0.0
