"""Calls in JSON, in all the forms that LMs and their adapters use, decoded or still as text.

The forms: `{"name": ..., "arguments": {...}}` under many key names (the constrained form of this package is
`{"function": ..., "arguments": ...}`), OpenAI's nested `tool_calls` with encoded arguments, `{"GetHotels": {...}}`,
arguments beside the name, lists, and wrappers such as `{"calls": [...]}`; in fences, after reasoning, inside prose,
with trailing commas, cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import json_repair
from pydantic import BaseModel

from prefine_dspy.parsing_syntax import SyntaxCall, calls_in_text, plain_name, straight_quotes
from prefine_dspy.parsing_values import clean_text
from prefine_dspy.types import ToolCall

_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name", "api", "api_name")
_ARGUMENT_KEYS = ("arguments", "args", "parameters", "params", "input", "kwargs")
_WRAPPERS = (
    *("call", "calls", "tool_call", "tool_calls", "function_call", "function_calls", "api_call", "api_calls"),
    *("action", "actions", "output", "answer", "result", "response", "prediction"),
)
_NOT_ARGUMENTS = {"id", "type", "index", "reasoning", "thought", "thoughts", "explanation", "rationale", "confidence"}
_NO_CALL = {"none", "null", "no call", "no_call", "nocall", "no tool", "no function", "no function call", "abstain"}
_NO_CALL |= {"no tool call", "n/a", "nothing", "unspecified"}

_THINKING = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"```[ \t]*+\w*+[ \t]*+\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_DEEPEST = 12
_MOST_FENCES = 20
_LONGEST_REPAIR = 4_000
"""Characters handed to json_repair, which takes seconds on longer noise; calls are a few hundred characters."""


class RawCall(NamedTuple):
    """A call as the answer has it: nothing checked, nothing normalised."""

    name: str
    arguments: dict[str, Any]


def read_answer(answer: object, known: frozenset[str] | None = None) -> list[RawCall] | None:
    """The calls of an answer; [] for a statement that no call is made, None if nothing could be read.

    Args:
        answer: text or a decoded value.
        known: names of the functions there are, if known; helps to tell calls from prose and wrappers.
    """
    known = frozenset(plain_name(name) for name in known) if known is not None else None
    if isinstance(answer, str):
        return _read_text(clean_text(answer), known)
    return _Reader(known).read(_decoded(answer))


def _decoded(answer: object) -> object:
    """Objects of pydantic (typed outputs, `dspy.ToolCalls`) as plain values."""
    try:
        if isinstance(answer, BaseModel):
            return answer.model_dump()
        if isinstance(answer, list | tuple):
            return [_decoded(one) if isinstance(one, BaseModel) else one for one in answer]
    except Exception:  # a model's own serialiser may fail on an LM's value; then nothing can be read
        return None
    return answer


# ------------------------------------------------------------------------------------------------------------- text


def _read_text(text: str, known: frozenset[str] | None) -> list[RawCall] | None:
    """The first reading that yields a call wins; if none does, the first that says "no call"."""
    text = _straight_quotes_if_needed(_without_thinking(text)).strip("\ufeff \t\r\n")
    if not text:
        return None
    abstention: list[RawCall] | None = None
    for calls in _readings(text, known):
        if calls:
            return calls
        abstention = calls if abstention is None else abstention
    return abstention


def _readings(text: str, known: frozenset[str] | None) -> Iterator[list[RawCall] | None]:
    reader = _Reader(known)
    bare = text.strip("\"'`*_. \n").casefold()
    if bare in _NO_CALL:
        yield []
    if known is not None and plain_name(text) in known and len(text) < 200:
        yield [RawCall(text.strip("\"'`*_. \n"), {})]
    yield reader.read_text_as_json(text)
    pieces = [match[1].strip() for match in islice(_FENCED.finditer(text), _MOST_FENCES) if match[1].strip()]
    for piece in pieces:
        yield reader.read_text_as_json(piece)
    written = list(calls_in_text(text, known))
    if written and written[0].start < _next_bracket(text, 0):  # `GetHotels(filter={"name": "x"})` is no call of x
        yield _raw(written)
    yield _merged(reader.read(value) for value in _json_values(text))
    yield _raw(written)
    for piece in [*pieces, text]:
        yield reader.read(_repaired(piece)) or None  # what is left of broken JSON may be a call, never a refusal


def _raw(calls: Iterable[SyntaxCall]) -> list[RawCall] | None:
    return [RawCall(call.name, call.arguments) for call in calls] or None


def _straight_quotes_if_needed(text: str) -> str:
    """Typographic quotes become plain ones, unless the text is valid as it stands (a value may hold them)."""
    return text if text.isascii() or _json(text) is not None else straight_quotes(text)


def _without_thinking(text: str) -> str:
    """What follows the reasoning. Reasoning that is never closed is dropped unless there is nothing else."""
    kept: list[str] = []
    position, opened = 0, -1
    for tag in _THINKING.finditer(text):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
        elif opened >= 0:
            kept.append(text[position:opened])
            position, opened = tag.end(), -1
        else:  # the opening tag was part of the prompt: all so far was reasoning
            kept, position = [], tag.end()
    if opened >= 0 and ("".join(kept) + text[position:opened]).strip():
        return "".join([*kept, text[position:opened]])
    return "".join([*kept, text[position:]])


def _json(text: str) -> object:
    """The decoded text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _json_values(text: str) -> Iterator[object]:
    """The JSON objects and lists inside a longer text, left to right."""
    decoder = json.JSONDecoder()
    position, failures = 0, 0
    while failures < 100 and (start := _next_bracket(text, position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            # each failure may have read to the end of the text: past some of them it is noise
            position, failures = start + 1, failures + 1


def _next_bracket(text: str, position: int) -> int:
    found = [at for at in (text.find("{", position), text.find("[", position)) if at >= 0]
    return min(found, default=-1)


def _repaired(text: str) -> object:
    """What json_repair makes of the text from its first bracket on: cut-off and sloppy JSON."""
    start = _next_bracket(text, 0)
    if start < 0:
        return None
    try:
        return json_repair.loads(text[start : start + _LONGEST_REPAIR])
    except Exception:  # it raises RecursionError, ValueError and others on hostile text
        return None


# ------------------------------------------------------------------------------------------------------------- JSON


def _merged(readings: Iterable[list[RawCall] | None]) -> list[RawCall] | None:
    """All calls of several readings; None only if none of them could be read."""
    readable = [calls for calls in readings if calls is not None]
    return [call for calls in readable for call in calls] if readable else None


class _Reader:
    """Reads calls out of decoded JSON: [] where it says that there is none, None where it says nothing."""

    def __init__(self, known: frozenset[str] | None) -> None:
        self.known = known

    def read_text_as_json(self, text: str) -> list[RawCall] | None:
        value = _json(text)
        if value is None:
            return [] if text == "null" else None
        return self.read(value)

    def read(self, value: object, depth: int = 0) -> list[RawCall] | None:
        if depth > _DEEPEST or value is None:
            return None
        if isinstance(value, ToolCall):
            return [RawCall(value.name, dict(value.arguments))]
        if isinstance(value, str):
            return self._read_string(value, depth)
        if isinstance(value, list | tuple):
            return _merged(self.read(one, depth + 1) for one in value) if value else []
        if isinstance(value, dict):
            return self._read_object({str(key): one for key, one in value.items()}, depth)
        return None

    def _read_string(self, text: str, depth: int) -> list[RawCall] | None:
        """A string inside JSON may hold a call, or JSON once more."""
        if text.strip().casefold() in _NO_CALL:
            return []
        if (inner := _json(text)) is not None and not isinstance(inner, str):
            return self.read(inner, depth + 1)
        return _raw(calls_in_text(text, self.known))

    def _read_object(self, value: dict[str, Any], depth: int) -> list[RawCall] | None:
        if not value:
            return []
        fields = {key.casefold(): one for key, one in value.items()}
        # a name beside a list of calls is the speaker's, as in a chat message
        is_message = any(isinstance(fields.get(key), list) for key in ("tool_calls", "calls"))
        name_key = next((key for key in _NAME_KEYS if isinstance(fields.get(key), str)), None)
        if name_key is not None and not is_message:
            return self._read_named(value, fields, name_key)
        wrapped = [fields[key] for key in (*_WRAPPERS, *_NAME_KEYS) if key in fields]
        inner = _merged([] if one is None else self.read(one, depth + 1) for one in wrapped)
        if inner or (keyed := self._read_keyed(value)):
            return inner or keyed
        # an unknown wrapper: whatever calls are below it
        below = _merged(self.read(one, depth + 1) for one in value.values() if isinstance(one, dict | list))
        return below or inner

    def _read_named(self, value: dict[str, Any], fields: dict[str, Any], name_key: str) -> list[RawCall]:
        """A name with its arguments beside it, under their own key or loose."""
        name = fields[name_key].strip().removesuffix("()")
        if name.casefold() in _NO_CALL:
            return []
        argument_key = next((key for key in _ARGUMENT_KEYS if key in fields), None)
        if argument_key is not None:
            return [RawCall(name, self._arguments(fields[argument_key]))]
        skipped = {name_key, *_NOT_ARGUMENTS}
        return [RawCall(name, {key: one for key, one in value.items() if key.casefold() not in skipped})]

    def _arguments(self, value: object) -> dict[str, Any]:
        """Arguments as an object, as encoded text, or as a list of name/value pairs or of objects."""
        if isinstance(value, str):
            decoded = _json(value)
            value = decoded if decoded is not None else _repaired(value)
        if isinstance(value, list):
            pairs: dict[str, Any] = {}
            for one in value:
                if isinstance(one, dict):
                    pairs |= {str(one["name"]): one["value"]} if {"name", "value"} <= set(one) else one
            return pairs
        return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}

    def _read_keyed(self, value: dict[str, Any]) -> list[RawCall] | None:
        """`{"GetHotels": {"location": ...}}`; without a catalogue only a key over an object can be a function."""
        calls: list[RawCall] = []
        for key, one in value.items():
            if self.known is not None and plain_name(key) not in self.known:
                continue
            if self.known is None and (key.casefold() in (*_WRAPPERS, *_ARGUMENT_KEYS) or key in _NOT_ARGUMENTS):
                continue
            if isinstance(one, list) and one and all(isinstance(each, dict) for each in one):
                calls += [RawCall(key, self._arguments(each)) for each in one]
            elif isinstance(one, dict) or (self.known is not None and (one is None or one == [])):
                calls.append(RawCall(key, self._arguments(one)))
        return calls or None
