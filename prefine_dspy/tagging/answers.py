"""A tagger's answer in its compact form, read and written: `[{"GetRestaurants":[{"cuisine":"Thai"}]}]`."""

from __future__ import annotations

from typing import Any

from prefine_dspy.parsing_json import read_answer
from prefine_dspy.parsing_syntax import plain_name
from prefine_dspy.parsing_values import clean_arguments
from prefine_dspy.tagging.labels import argument_of, function_of
from prefine_dspy.tagging.placing import Wanted
from prefine_dspy.tagging.problems import TagProblem
from prefine_dspy.tagging.tags import Tagged
from prefine_dspy.tools import Catalogue, Tool
from prefine_dspy.types import ToolCall

_MOST_VALUES = 100


def answer_of(tagged: Tagged) -> list[dict[str, list[dict[str, str]]]]:
    """What a tagger should answer for these tags."""
    return [
        {action.name: [{slot.name: tagged.words(slot)} for slot in sorted(action.slots, key=lambda one: one.start)]}
        for action in tagged.actions
    ]


def read_wanted(answer: object, tools: Catalogue) -> tuple[list[Wanted] | None, list[TagProblem]]:
    """The functions and values that an answer names, in the catalogue's terms; None if it could not be read.

    Never raises. Values of one function are joined, wherever they stand.
    """
    if answer == []:
        return [], []
    raw = read_answer(answer, known=frozenset(tool.name for tool in tools))
    if raw is None:
        return None, []
    by_function: dict[str, list[tuple[str, str]]] = {}
    problems: list[TagProblem] = []
    for call in raw:
        name = function_of(call.name, tools)
        tool = tools.get(name) if name else None
        if tool is None:
            problems.append(TagProblem("unknown_function", call.name))
            continue
        if plain_name(tool.name) != plain_name(call.name):
            problems.append(TagProblem("renamed_function", call.name))
        values = by_function.setdefault(tool.name, [])
        values += _values(call.arguments, tool, problems)
        del values[_MOST_VALUES:]
    return [Wanted(function, slots) for function, slots in by_function.items()], problems


def _values(arguments: dict[str, Any], tool: Tool, problems: list[TagProblem]) -> list[tuple[str, str]]:
    cleaned, unreadable = clean_arguments(arguments)
    problems += [TagProblem("not_found", argument) for argument in unreadable]
    found = []
    for _, argument, value in ToolCall(name=tool.name, arguments=cleaned).triplets():
        name = argument_of(argument, tool)
        if name is None:
            problems.append(TagProblem("unknown_slot", argument))
            continue
        if plain_name(name) != plain_name(argument):
            problems.append(TagProblem("renamed_slot", argument))
        found.append((name, value))
    return found
