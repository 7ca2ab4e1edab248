"""What a request leaves to be answered: closed values that nothing in it speaks of cannot be written.

A small LM fills in what it finds likely (`show_type="regular"`). Where values are copied and not inferred
(`Parameter.copied`), as in NLSI, that can be told from the words that were read: 185 of 198 closed values in the gold
calls of NLSI's train and validation splits are spoken of in this sense. Markers stay: an LM that must leave an argument
open writes one, and `shared_context` drops the questions that nobody asked. Without "?" it invents text instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from prefine_dspy.tools import Catalogue, Parameter


def narrowed(tools: Catalogue, read: str) -> Catalogue:
    """The catalogue without the closed values of `copied` arguments that a request does not speak of; tools all stay.

    A value is spoken of when one of its words occurs in what was read, both values of a yes-or-no argument when a word
    of its name does; words count as equal by their first four letters ("moderately" is moderate). Required arguments
    keep everything.

    Args:
        tools: the whole catalogue.
        read: everything a value may be copied from, the dialogue included.
    """
    stems = {stem(word) for word in re.findall(r"\w+", read)}
    found = []
    for tool in tools:
        kept = (_narrow(one, stems) for one in tool.parameters)
        found.append(tool.model_copy(update={"parameters": tuple(one for one in kept if one is not None)}))
    return Catalogue(found)


def is_spoken_of(parameter: Parameter, value: str, stems: Collection[str]) -> bool:
    """Whether a closed value of an argument is spoken of; see `narrowed`."""
    words = parameter.name.split("_") if parameter.type == "boolean" else re.findall(r"\w+", value)
    return any(stem(word) in stems for word in words)


def _narrow(parameter: Parameter, stems: set[str]) -> Parameter | None:
    choices = parameter.choices() if parameter.copied else ()
    values = tuple(value for value in choices if is_spoken_of(parameter, value, stems))
    if parameter.required or values == choices:
        return parameter
    if values:
        return parameter.model_copy(update={"enum": values})
    # a marker alone: it takes the place of the values, since no enum would mean that anything goes
    update = {"type": "string", "enum": parameter.markers, "markers": ()}
    return parameter.model_copy(update=update) if parameter.markers else None


def stem(word: str) -> str:
    """What makes two words count as one."""
    return word.casefold()[:4]
