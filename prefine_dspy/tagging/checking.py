"""Tags against a catalogue: names in its spelling; what it does not know is dropped, the words always stay."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from prefine_dspy.parsing_syntax import plain_name
from prefine_dspy.tagging.labels import argument_of, function_of
from prefine_dspy.tagging.problems import TagProblem
from prefine_dspy.tagging.tags import Action, Tagged
from prefine_dspy.tools import Catalogue, Tool


class Checked(NamedTuple):
    """Tags that fit a catalogue, and what was renamed or dropped for it."""

    tagged: Tagged
    problems: list[TagProblem]


def check(tagged: Tagged, tools: Catalogue) -> Checked:
    """Bring the names of all tags to the catalogue's. Another spelling of a name is no problem, another name is."""
    actions: list[Action] = []
    problems: list[TagProblem] = []
    for action in tagged.actions:
        name = function_of(action.name, tools)
        tool = tools.get(name) if name else None
        if tool is None:
            problems.append(TagProblem("unknown_function", action.name))
            continue
        if plain_name(tool.name) != plain_name(action.name):
            problems.append(TagProblem("renamed_function", action.name))
        actions.append(_checked(replace(action, name=tool.name), tool, problems))
    return Checked(Tagged(tagged.text, tuple(actions)), problems)


def _checked(action: Action, tool: Tool, problems: list[TagProblem]) -> Action:
    slots = []
    for slot in action.slots:
        name = argument_of(slot.name, tool)
        if name is None:
            problems.append(TagProblem("unknown_slot", slot.name))
            continue
        if plain_name(name) != plain_name(slot.name):
            problems.append(TagProblem("renamed_slot", slot.name))
        slots.append(replace(slot, name=name))
    return replace(action, slots=tuple(slots))
