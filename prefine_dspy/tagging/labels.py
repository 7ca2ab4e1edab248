"""Names as tags write them, in upper snake case, and the functions and arguments they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefine_dspy.parsing_fit import closest
from prefine_dspy.parsing_syntax import plain_name
from prefine_dspy.tools import Catalogue, Tool

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST_NAME = 100


def action_label(function: str) -> str:
    """A function as a tag writes it: `GetHouseStays` is GET_HOUSE_STAYS."""
    return _HUMP.sub("_", function).upper()


def slot_label(argument: str) -> str:
    """An argument as a tag writes it: `pets_allowed` is PETS_ALLOWED."""
    return _HUMP.sub("_", argument).upper()


def function_of(label: str, tools: Catalogue | None = None) -> str | None:
    """The function that a label stands for, in either spelling; None if the catalogue has none.

    Args:
        label: GET_HOUSE_STAYS, GET_HOUSESTAYS, GetHouseStays ...
        tools: without it every label stands for something: GET_HOUSE_STAYS for `GetHouseStays`.
    """
    if tools is not None:
        return _meant(label, [tool.name for tool in tools])
    return label if label != label.upper() else "".join(part.capitalize() for part in label.split("_"))


def argument_of(label: str, tool: Tool | None = None) -> str | None:
    """The argument that a label stands for, in either spelling; None if the function has none.

    Args:
        label: PETS_ALLOWED, pets_allowed ...
        tool: without it the label in lower case.
    """
    if tool is not None:
        return _meant(label, [parameter.name for parameter in tool.parameters])
    return label if label != label.upper() else label.lower()


def _meant(label: str, names: Sequence[str]) -> str | None:
    """The known name in another spelling or nearly so, else the only one with the same last word or the same first:
    STAR_RATING is `average_rating` where that is the only rating, SALON_NAME is `stylist_name`."""
    found = closest(label, names)
    if found is not None or len(label) > _LONGEST_NAME:
        return found
    words = action_label(label).split("_")
    for place in (-1, 0):
        word = plain_name(words[place])
        same = [name for name in names if plain_name(action_label(name).split("_")[place]) == word]
        if len(same) == 1 and word not in ("", "get", "has", "is"):
            return same[0]
    return None
