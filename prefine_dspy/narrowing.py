"""What a request leaves to be answered: closed values and questions that nothing in it speaks of cannot be written.

A small LM fills in what it finds likely (`show_type="regular"`) and writes "?" for what it cannot fill. Where values
are copied and not inferred (`Parameter.copied`), as in NLSI, both can be told from the words that were read: 185 of 198
closed values in the gold calls of NLSI's train and validation splits are spoken of in this sense. The grammar then
holds nothing else, which also keeps answers short.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from prefine_dspy.tools import Catalogue, Parameter
from prefine_dspy.types import Query

ASKED = "?"
"""The marker of an argument whose value the user asks for."""


def narrowed(tools: Catalogue, query: Query, read: str) -> Catalogue:
    """The catalogue with the arguments, closed values and markers that a request speaks of; tools all stay.

    A closed value is spoken of when one of its words occurs in what was read, a yes-or-no argument when a word of its
    name does; words count as equal by their first four letters ("moderately" is moderate). "?" stays where the user
    asks for it (`is_asked`), another marker at a closed argument where its name or a value is spoken of. Arguments that
    are open, required or not `copied` keep their values.

    Args:
        tools: the whole catalogue.
        query: the dialogue.
        read: everything a value may be copied from, the dialogue included.
    """
    stems, asked, follow_up = _stems(read), _stems(_said(query)), asks_back(query)
    found = []
    for tool in tools:
        kept = (_narrow(one, stems, asked, follow_up) for one in tool.parameters)
        found.append(tool.model_copy(update={"parameters": tuple(one for one in kept if one is not None)}))
    return Catalogue(found)


def asks_back(query: Query) -> bool:
    """Whether the user answers the assistant with a question: what they ask for need not be named then."""
    users = [turn.text for turn in query.turns if turn.role == "user"]
    return len(users) > 1 and "?" in users[-1]


def is_asked(parameter: Parameter, asked: Collection[str], follow_up: bool) -> bool:
    """Whether the user asks for an argument's value: a word of its name is said, or see `asks_back`."""
    return follow_up or any(_stem(part) in asked for part in parameter.name.split("_"))


def is_spoken_of(parameter: Parameter, value: str, stems: Collection[str]) -> bool:
    """Whether a closed value of an argument is spoken of; see `narrowed`."""
    words = parameter.name.split("_") if parameter.type == "boolean" else re.findall(r"\w+", value)
    return any(_stem(word) in stems for word in words)


def _narrow(parameter: Parameter, stems: set[str], asked: set[str], follow_up: bool) -> Parameter | None:
    choices = parameter.choices() if parameter.copied else ()
    if parameter.required:
        return parameter
    markers = tuple(one for one in parameter.markers if one != ASKED or is_asked(parameter, asked, follow_up))
    if not choices:
        return parameter.model_copy(update={"markers": markers})
    values = tuple(value for value in choices if is_spoken_of(parameter, value, stems))
    if values:
        update = {} if parameter.type == "boolean" else {"enum": values}
        return parameter.model_copy(update={**update, "markers": markers})
    if not any(_stem(part) in stems for part in parameter.name.split("_")):
        markers = tuple(one for one in markers if one == ASKED)
    # a marker alone: it takes the place of the values, since no enum would mean that anything goes
    return parameter.model_copy(update={"type": "string", "enum": markers, "markers": ()}) if markers else None


def _said(query: Query) -> str:
    return " ".join(turn.text for turn in query.turns if turn.role == "user")


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in re.findall(r"\w+", text)}


def _stem(word: str) -> str:
    return word.casefold()[:4]
