"""The call strings of released MPT files: `GetBuses(group_size="1", origin="San Jose")` to and from `ToolCall`.

Strict on purpose: these strings were written by a program, so anything unusual means that the file is not what it
claims to be. What an LM writes is read by `prefine_dspy.parsing`, which forgives. The way back is `str(call)`.
"""

from __future__ import annotations

import re

from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

_CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)", re.DOTALL)
# A value ends at the first quote that closes the call or is followed by the next argument: values are not escaped,
# so a quote, a comma or a parenthesis inside one is text.
_ARGUMENT = re.compile(r'([A-Za-z_]\w*)="(.*?)"(?:$|, (?=[A-Za-z_]\w*="))', re.DOTALL)
_SWALLOWED_ARGUMENT = re.compile(r'"\s*,?\s*[A-Za-z_]\w*\s*=')


def parse_call(text: str) -> ToolCall:
    """Read one MPT call string (always double quotes, `", "` between arguments, numbers as strings).

    A name that occurs twice becomes a list value, in the order given: `GetBanks(recipient_account_type="savings",
    recipient_account_type="checking")` is one call with two values.

    Raises:
        InputError: the text is not such a string; the message shows it.
    """
    whole = _CALL.fullmatch(text) if isinstance(text, str) else None
    if whole is None:
        raise _malformed(text, "it is not of the form Name(...)")
    name, inside = whole.groups()
    arguments: dict[str, str | list[str]] = {}
    position = 0
    while position < len(inside):
        found = _ARGUMENT.match(inside, position)
        if found is None or _SWALLOWED_ARGUMENT.search(found[2]):
            raise _malformed(text, f"cannot read an argument at {inside[position : position + 30]!r}")
        argument, value = found.groups()
        earlier = arguments.get(argument)
        if earlier is None:
            arguments[argument] = value
        else:
            arguments[argument] = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
        position = found.end()
    return ToolCall(name=name, arguments=arguments)


def _malformed(text: object, why: str) -> InputError:
    return InputError(f'not an MPT call string: {text!r}: {why}; expected Name(argument="value", argument="value")')
