"""What tagged instructions say, by the function that it is said of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from prefine_dspy.composition.values import called
from prefine_dspy.tagging import Tagged
from prefine_dspy.tools import Catalogue, Tool

Fact = dict[str, list[str]]
"""One instruction about one function: values by argument."""
_ALTERNATIVE = re.compile(r"\b(?:or|and|nor)\b|[,;/&]")


def facts_by_function(
    requested: Sequence[str], instructions: Iterable[Tagged], tools: Catalogue
) -> dict[str, list[Fact]]:
    """The functions to be called, in order, each with what the instructions say about it.

    Called are the functions that the dialogue asks for and those that an instruction names together with another one
    ("Look into both Travel and Hotels"). An instruction about a function that is not called is about a called one that
    has the same arguments (a film at home, a film in the cinema), if there is one; else its function is called as well.

    Args:
        requested: functions of the dialogue, in order.
        instructions: the applicable ones, tagged.
        tools: unknown functions and arguments are left out.
    """
    tagged = list(instructions)
    found: dict[str, list[Fact]] = {name: [] for name in requested if name in tools}
    for one in tagged:
        names = dict.fromkeys(action.name for action in one.actions if action.name in tools)
        if len(names) > 1:
            for name in names:
                found.setdefault(name, [])
    for one in tagged:
        for function, pieces in _pieces(one).items():
            tool = _meant(function, set(pieces), list(found), tools)
            if tool is not None and (fact := _fact(tool, pieces)):
                found.setdefault(tool.name, []).append(fact)
    return found


def _pieces(tagged: Tagged) -> dict[str, dict[str, list[str]]]:
    """The tagged words by function and argument; two in one sentence are alternatives if it says so, or the later one
    is meant ("my usual barber, who gives me a fade")."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    ends: dict[tuple[str, str], int] = {}
    for action in tagged.actions:
        for slot in action.slots:
            words = found[action.name][slot.name]
            key = (action.name, slot.name)
            if words and not _ALTERNATIVE.search(tagged.text[ends[key] : slot.start]):
                words.pop()
            words.append(tagged.text[slot.start : slot.end])
            ends[key] = slot.end
    return found


def _meant(function: str, arguments: set[str], called_functions: Sequence[str], tools: Catalogue) -> Tool | None:
    own = tools.get(function)
    if own is not None and function in called_functions and all(own.parameter(name) for name in arguments):
        return own
    for name in called_functions:
        tool = tools.get(name)
        if tool is not None and all(tool.parameter(argument) for argument in arguments):
            return tool
    return own


def _fact(tool: Tool, pieces: dict[str, list[str]]) -> Fact:
    found: Fact = {}
    for argument, words in pieces.items():
        parameter = tool.parameter(argument)
        values = [value for one in words for value in called(parameter, one)] if parameter is not None else []
        if values:
            found[argument] = list(dict.fromkeys(values))
    return found
