"""How sure an LM was of each argument: from the log-probabilities of the tokens that the value is made of.

Log-probabilities are those of the LM without its grammar. At each token of a value, the probability of all listed
alternatives that could still lead to this value is therefore divided by that of those that could still lead to any
allowed one, if the argument has a closed set of values; the product is the probability of the value among the allowed
ones. Elsewhere it is not divided: the probability of the value as written, so longer texts get less. Either is
conditional on what was decided before it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import dspy

from prefine_dspy.call_schema import UNSPECIFIED
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

ALTERNATIVES = 10
"""Alternatives asked for at each token; those beyond are counted as impossible."""
_IMPOSSIBLE = -100.0
_ARGUMENTS = re.compile(rb'"function"\s*:\s*"(?P<name>[^"\\]*)"\s*,\s*"arguments"\s*:\s*(?=\{)')
_BLANKS = re.compile(r"[\s,:]*")


class Token(NamedTuple):
    """One generated token."""

    text: bytes
    logprob: float
    alternatives: tuple[tuple[bytes, float], ...] = ()


class _Span(NamedTuple):
    start: int
    end: int


def confidences(logprobs: Any, calls: Sequence[ToolCall], tools: Catalogue) -> list[dict[str, float]]:
    """For each call the probability of its arguments' values, in [0, 1].

    Args:
        logprobs: `prediction.logprobs` of DSPy, or anything else: what cannot be read gives no confidences.
        calls: as parsed from the same answer.
        tools: as the LM was asked about them.

    Returns:
        One dictionary a call; arguments that could not be aligned with the tokens are absent.
    """
    tokens = read_tokens(logprobs)
    text = b"".join(token.text for token in tokens)
    spans = list(_spans(text))
    found: list[dict[str, float]] = []
    for call in calls:
        match = next((one for one in spans if one[0] == call.name), None)
        if match is None:
            found.append({})
            continue
        spans.remove(match)
        wanted = {name: span for name, span in match[1].items() if name in call.arguments}
        found.append(
            {name: _probability(tokens, text, span, _allowed(call.name, name, tools)) for name, span in wanted.items()}
        )
    return found


def scored(lm: dspy.BaseLM) -> tuple[dspy.BaseLM, str]:
    """The LM asking for log-probabilities, or itself and why not."""
    if not {"logprobs", "top_logprobs"} <= set(lm.supported_params):
        return lm, "the LM does not offer log-probabilities"
    return lm.copy(logprobs=True, top_logprobs=ALTERNATIVES), "the answer gave no log-probabilities for this value"


def read_tokens(logprobs: Any) -> list[Token]:
    """The tokens of `prediction.logprobs` (`{"content": [...]}`, objects or dictionaries); else []."""
    content = _get(logprobs, "content")
    if not isinstance(content, list | tuple):
        return []
    try:
        return [Token(_bytes(one), _logprob(one), tuple(_alternatives(_get(one, "top_logprobs")))) for one in content]
    except (TypeError, ValueError, OverflowError):  # float(10**400) overflows
        return []


def _alternatives(top: Any) -> Iterable[tuple[bytes, float]]:
    for one in top or ():
        yield _bytes(one), _logprob(one)


def _logprob(token: Any) -> float:
    """At most 0 and finite: some servers write -inf or -9999 for "not among the listed"."""
    value = float(_get(token, "logprob"))
    return min(0.0, max(value, _IMPOSSIBLE)) if not math.isnan(value) else _IMPOSSIBLE


def _bytes(token: Any) -> bytes:
    raw = _get(token, "bytes")
    if isinstance(raw, bytes):
        return raw
    return bytes(raw) if isinstance(raw, list | tuple) and raw else str(_get(token, "token")).encode("utf-8", "replace")


def _get(thing: Any, key: str) -> Any:
    return thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)


def _spans(text: bytes) -> Iterable[tuple[str, dict[str, _Span]]]:
    """For every call written in the text its name and where its values stand; quotation marks before a text are not
    part of it, the one after it is (it tells "Premium" from "Premium Economy")."""
    for match in _ARGUMENTS.finditer(text):
        yield match["name"].decode("utf-8", "replace"), _object_spans(text, match.end())


def _object_spans(text: bytes, start: int) -> dict[str, _Span]:
    # Latin-1 maps bytes to characters one to one, so that positions in the decoded text are positions in the bytes.
    plain = text.decode("latin-1")
    decoder = json.JSONDecoder(strict=False)
    found: dict[str, _Span] = {}
    position = start + 1
    try:
        while (position := _skip(plain, position)) < len(plain) and plain[position] == '"':
            name, position = decoder.raw_decode(plain, position)
            position = _skip(plain, position)
            value, end = decoder.raw_decode(plain, position)
            found[name.encode("latin-1", "replace").decode("utf-8", "replace")] = _Span(
                position + 1 if isinstance(value, str) else position, end
            )
            position = end
    except (ValueError, RecursionError):
        pass  # a truncated answer: what was complete before is kept
    return found


def _skip(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _allowed(function: str, argument: str, tools: Catalogue) -> tuple[bytes, ...]:
    """The closed set as it is written, up to the closing quotation mark; () for open arguments."""
    tool = tools.get(function)
    parameter = tool.parameter(argument) if tool else None
    choices = parameter.choices() if parameter else ()
    if not choices or parameter is None:
        return ()
    members = choices if parameter.required else (*choices, UNSPECIFIED)
    return tuple(json.dumps(one, ensure_ascii=False)[1:].encode("utf-8") for one in members)


def _probability(tokens: Sequence[Token], text: bytes, span: _Span, allowed: tuple[bytes, ...]) -> float:
    value = text[span.start : span.end]
    total, position, done = 0.0, 0, 0
    for token in tokens:
        start, position = position, position + len(token.text)
        if position <= span.start:
            continue
        if start >= span.end:
            break
        cut = max(0, span.start - start)
        total += math.log(_share(token, cut, value[:done], value, allowed))
        done += len(token.text) - cut
    return round(min(1.0, math.exp(total)), 4)


def _share(token: Token, cut: int, before: bytes, value: bytes, allowed: tuple[bytes, ...]) -> float:
    """Of what may stand at this place, the part that could still lead to the value.

    Other tokens than the chosen one may lead there too: a shorter piece of the same word, or the closing quotation mark
    together with a comma.

    Args:
        cut: bytes of the token that belong to what stands before the value.
        before: the value's bytes so far.
        value: all of them.
        allowed: the closed set; () when anything may stand here.
    """
    here = {**dict(token.alternatives), token.text: token.logprob}
    same = {text: p for text, p in here.items() if text[:cut] == token.text[:cut] and len(text) > cut}
    leading = sum(math.exp(p) for text, p in same.items() if text == token.text or _fits(text[cut:], before, value))
    if not allowed:
        return min(1.0, leading)
    rivals = sum(
        math.exp(p)
        for text, p in same.items()
        if text == token.text or any(_fits(text[cut:], before, one) for one in allowed)
    )
    return leading / max(rivals, leading)


def _fits(piece: bytes, before: bytes, value: bytes) -> bool:
    """Whether a value that begins with `before` can go on with the piece."""
    if not value.startswith(before):
        return False
    rest = value[len(before) :]
    if rest.startswith(piece):
        return True
    # past the end of a number: "12" is not "1" and something else
    return bool(rest) and piece.startswith(rest) and not (rest[-1:].isalnum() and piece[len(rest) :][:1].isalnum())
