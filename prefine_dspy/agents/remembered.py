"""A user's memory as a source of variables: what they chose again and again, with where it comes from."""

from __future__ import annotations

from prefine_dspy.interop.json_values import Misfit, typed
from prefine_dspy.parsing_fit import closest
from prefine_dspy.situation import Derived, Variable
from prefine_dspy.situation.situation import DerivedSource
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Choice, Memory


def remembered(memory: Memory, tools: Catalogue) -> DerivedSource:
    """For `SituationState.fill`: the most frequent choice for the argument that a variable is named after.

    A variable is named after an argument when the names are the same but for case and separators, nearly the same, or
    when all words of the argument are in it ("seat_preference"). Where several arguments fit, nothing is known.

    Args:
        memory: of the user; its evidence is most frequent first. Its text is for the LM to read.
        tools: give the values their JSON types.
    """
    choices: dict[str, Choice] = {}
    for choice in memory.evidence:
        choices.setdefault(choice.argument, choice)

    def source(variable: Variable) -> Derived | None:
        argument = closest(variable.name, list(choices)) or _inside(variable.name, list(choices))
        if argument is None:
            return None
        choice = choices[argument]
        return Derived(_value(choice, tools), provenance(memory, choice))

    return source


def provenance(memory: Memory, choice: Choice) -> str:
    """`preference memory version 3 (sessions s1, s4)`."""
    sessions = f" (sessions {', '.join(choice.sessions)})" if choice.sessions else ""
    return f"preference memory version {memory.version}{sessions}"


def _inside(name: str, arguments: list[str]) -> str | None:
    words = set(name.casefold().split("_"))
    found = [one for one in arguments if set(one.casefold().split("_")) <= words]
    return found[0] if len(found) == 1 else None


def _value(choice: Choice, tools: Catalogue) -> object:
    tool = tools.get(choice.function)
    parameter = tool.parameter(choice.argument) if tool else None
    if parameter is None:
        return choice.value
    try:
        return typed(choice.value, parameter)
    except Misfit:
        return choice.value
