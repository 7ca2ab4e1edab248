"""Labelled demonstrations for the steps of the NLSI programs, from the train split's annotation. No LM.

A demonstration shows a step's inputs exactly as the step renders them, and the calls in the form that its grammar
allows: arguments in the catalogue's order, values as they are to be copied. A row with a value that nobody said (the
gold has "Philadelphia", the user says "Philly"), that the catalogue does not know or that the grammar cannot write is
left out as a whole: with the value it would teach to invent, without it to leave out what was wanted.

Kinds are the reasoning types; what a choice should cover are the functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from eval.data.nlsi import NlsiInstance
from prefine_dspy.call_schema import TEXT_VALUE
from prefine_dspy.grounding import ungrounded
from prefine_dspy.interpreter import instruction_lines
from prefine_dspy.rendering import query_text
from prefine_dspy.selection import numbered_lines
from prefine_dspy.tagging import Tagged, demonstrations_from_tags, fit, parse_tags, render_tags
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall, value_text
from programs.compilation.demonstrations import Labelled

MOST_CALLS = 4
"""As many as `call_schema.calls_type` allows."""


def interpreter_demonstrations(instances: Sequence[NlsiInstance], tools: Catalogue) -> list[Labelled]:
    """For `Interpreter`: instructions as they are."""
    found = []
    for instance in instances:
        if calls := shown_calls(instance, tools):
            lines = instruction_lines(instance.request.texts())
            found.append(_labelled(instance, ("standing", "query"), standing=lines, calls=calls))
    return found


def tagged_demonstrations(
    instances: Sequence[NlsiInstance], tags: Mapping[str, str], tools: Catalogue
) -> list[Labelled]:
    """For `TaggedInterpreter`: instructions with gold tags; rows with an instruction that has none are left out.

    Args:
        instances: of the train split.
        tags: gold tags in either form, by instruction.
        tools: the catalogue.
    """
    found = []
    for instance in instances:
        calls, tagged = shown_calls(instance, tools), gold_tags(instance, tags, tools)
        if calls and tagged is not None:
            lines = instruction_lines(tagged)
            found.append(_labelled(instance, ("tagged", "query"), tagged=lines, calls=calls))
    return found


def joint_demonstrations(
    instances: Sequence[NlsiInstance], tags: Mapping[str, str], tools: Catalogue
) -> list[Labelled]:
    """For `TaggingInterpreter`: the tags are part of the answer. See `tagged_demonstrations`."""
    found = []
    for instance in instances:
        calls, tagged = shown_calls(instance, tools), gold_tags(instance, tags, tools)
        if calls and tagged is not None:
            lines = instruction_lines(instance.request.texts())
            written = {"tagged": tagged, "calls": calls}
            found.append(_labelled(instance, ("standing", "query"), standing=lines, **written))
    return found


def tagger_demonstrations(tags: Mapping[str, str], tools: Catalogue) -> list[Labelled]:
    """For `Tagger`: one a tagged instruction; kinds are how many functions and values it has.

    Args:
        tags: gold tags of the train split's instructions.
        tools: the catalogue.
    """
    found = []
    for demo in demonstrations_from_tags(tags, tools):
        functions = tuple(name for action in demo.tags for name in action)
        values = sum(len(slots) for action in demo.tags for slots in action.values())
        kind = "several functions" if len(functions) > 1 else f"{min(values, 3)} values"
        found.append(Labelled(demo, (kind,), functions))
    return found


def selector_demonstrations(instances: Sequence[NlsiInstance]) -> list[Labelled]:
    """For `LMSelector`: the whole profile, and the numbers of those that apply."""
    found = []
    for instance in instances:
        request = instance.request
        places = {one.id: number for number, one in enumerate(request.profile, 1)}
        if not request.profile or any(one.id not in places for one in request.applicable):
            continue
        numbers = sorted(places[one.id] for one in request.applicable)
        lines = numbered_lines(request.profile)
        found.append(_labelled(instance, ("profile", "query"), profile=lines, numbers=numbers))
    return found


def kind_of(instance: NlsiInstance) -> tuple[str, ...]:
    """The kind of what an instance demonstrates."""
    return (instance.reasoning_type,)


def shown_calls(instance: NlsiInstance, tools: Catalogue) -> list[dict[str, Any]]:
    """The gold calls as an interpreter answers; [] when they are not to be shown."""
    gold = instance.gold_calls()
    read = f"{instruction_lines(instance.request.texts())}\n{query_text(instance.request.query)}"
    if not 1 <= len(gold) <= MOST_CALLS or any(not _fits(call, tools, read) for call in gold):
        return []
    return [_shown(call, tools) for call in gold]


def gold_tags(instance: NlsiInstance, tags: Mapping[str, str], tools: Catalogue) -> list[str] | None:
    """The applicable instructions in angle form; None when one of them has no tags that fit its words."""
    found = [gold_tagged(text, tags, tools) for text in instance.request.texts()]
    return None if any(one is None for one in found) else [render_tags(one) for one in found if one is not None]


def gold_tagged(text: str, tags: Mapping[str, str], tools: Catalogue) -> Tagged | None:
    """One instruction with its gold tags; None when there are none that fit its words."""
    return fit(parse_tags(tags[text], tools).tagged, text).tagged if text in tags else None


def _shown(call: ToolCall, tools: Catalogue) -> dict[str, Any]:
    tool = tools.get(call.name)
    order = [parameter.name for parameter in tool.parameters] if tool else []
    arguments = {name: value_text(call.arguments[name]) for name in order if name in call.arguments}
    return {"function": call.name, "arguments": arguments}


def _fits(call: ToolCall, tools: Catalogue, read: str) -> bool:
    if tools.problems(call) or ungrounded(call, tools, read, ""):
        return False
    return all(_writable(value) for value in call.arguments.values())


def _writable(value: object) -> bool:
    """As the grammar has it: one text; a marker such as "?" is one that it knows."""
    return not isinstance(value, list) and (value == "?" or re.match(TEXT_VALUE, value_text(value)) is not None)


def _labelled(instance: NlsiInstance, inputs: tuple[str, ...], **fields: Any) -> Labelled:
    demo = dspy.Example(query=query_text(instance.request.query), **fields).with_inputs(*inputs)
    functions = tuple(dict.fromkeys(call.name for call in instance.gold_calls()))
    return Labelled(demo, kind_of(instance), functions)
