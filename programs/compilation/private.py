"""What of users' records may not land in a saved program.

A program that is handed on may say what kind of thing users prefer ("low cost"), never what somebody called, booked or
searched for by name. Values of closed sets belong to the tools and everybody knows them; all others (names, places,
dates, what is done this once included) are a user's, and a hypothesis that holds one, or a telling word of one, is not
stored. It still serves that user's own memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from prefine_dspy.shared_context import is_said
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History

_MOST_DIGITS = 2
"""Numbers up to here are counts and ratings ("for 2"); longer ones are years, prices, telephone numbers."""


def private_values(histories: Iterable[History], tools: Catalogue) -> set[str]:
    """Every value of the calls that is none of a closed set, nor a small number."""
    found = set()
    for history in histories:
        for session in history.sessions:
            for call in session.calls:
                tool = tools.get(call.name)
                for _, argument, value in call.triplets():
                    parameter = tool.parameter(argument) if tool else None
                    closed = parameter is not None and value in parameter.choices()
                    if not closed and value.strip() and not re.fullmatch(rf"\d{{1,{_MOST_DIGITS}}}", value.strip()):
                        found.add(value)
    return found


def names_private(text: str, values: Iterable[str]) -> bool:
    """Whether a text holds one of the values in any case, or a capitalised word or long number of one.

    Args:
        text: of a hypothesis.
        values: see `private_values`.
    """
    plain = text.casefold()
    # the first word of a sentence is capitalised whatever it is
    words = {word for sentence in re.split(r"[.!?;]\s+", text) for word in re.findall(r"\w+", sentence)[1:]}
    return any(is_said(value.casefold(), plain) or bool(words & _telling(value)) for value in values)


def _telling(value: str) -> set[str]:
    return {
        word
        for word in re.findall(r"\w+", value)
        if (word[0].isupper() and len(word) > 2) or (word.isdecimal() and len(word) > _MOST_DIGITS)
    }
