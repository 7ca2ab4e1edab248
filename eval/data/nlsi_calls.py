"""The gold call strings of NLSI as `ToolCall`s: like MPT's, with the slips of a data set made from another one."""

from __future__ import annotations

import re

from eval.data.call_text import parse_call
from prefine_dspy.errors import InputError
from prefine_dspy.parsing import parse_calls
from prefine_dspy.types import ToolCall

_DOUBLED_COMMA = re.compile(r'",(?:\s*,)+\s*')


def read_gold(text: str) -> ToolCall:
    """Read one gold call string.

    Forgiven are doubled commas (`city="Napa", , party_size="2"`, where a slot was taken out), and an argument given
    twice with one value, which counts once; with different values it becomes a list, as in `ToolCall`.

    Raises:
        InputError: there is no call in the text, or more than one.
    """
    plain = _DOUBLED_COMMA.sub('", ', text.strip())
    try:
        call = parse_call(plain)
    except InputError:
        call = None
    if call is None or any('"' in value for _, _, value in call.triplets()):  # a quote in a value: two calls in a line
        found = parse_calls(plain).calls
        if len(found) != 1:
            raise InputError(f'not an NLSI call string: {text!r}: expected one GetX(slot="value", slot="value")')
        call = found[0]
    return ToolCall(name=call.name, arguments={name: _once(value) for name, value in call.arguments.items()})


def _once(value: object) -> object:
    if not isinstance(value, list):
        return value
    different = [one for k, one in enumerate(value) if one not in value[:k]]
    return different[0] if len(different) == 1 else different
