"""From an answer's calls and tagged instructions to the calls that are meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from prefine_dspy.composition.branches import Arguments, branches
from prefine_dspy.composition.facts import Fact, facts_by_function
from prefine_dspy.composition.values import alike
from prefine_dspy.shared_context import ASKED, is_said, link
from prefine_dspy.tagging import Tagged
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query, ToolCall, value_text


def repair(calls: Sequence[ToolCall], instructions: Sequence[Tagged], tools: Catalogue, query: Query) -> list[ToolCall]:
    """The calls with what the instructions say and they lack: arguments, and calls for alternatives.

    What a call holds stays, but a value for what it asks about ("?") is an answer. A call takes an argument over from
    the branch of the instructions that it belongs to, unless it contradicts that branch; a branch that no call belongs
    to becomes a call if it is an alternative. Of functions that the answer does not call, only those are added that an
    instruction names side by side with a called one: a small tagger names wrong ones too often.

    Args:
        calls: the answer; empty stays empty.
        instructions: the applicable instructions with their tags.
        tools: the catalogue; arguments stand in its order.
        query: the dialogue.
    """
    said = " ".join(turn.text for turn in query.turns).casefold()
    answered = list(dict.fromkeys(call.name for call in calls))
    called = [*answered, *_together(instructions, answered, tools)]
    facts = facts_by_function(called, instructions, tools)
    found: list[ToolCall] = []
    for function in called:
        tool = tools.get(function)
        own = [call for call in calls if call.name == function] or [ToolCall(name=function)]
        if tool is None or not facts.get(function):
            found += own
            continue
        order = [parameter.name for parameter in tool.parameters]
        held = [{name: value_text(value) for name, value in call.arguments.items()} for call in own]
        for arguments in _repaired(held, facts[function], said):
            names = sorted(arguments, key=lambda name: order.index(name) if name in order else len(order))
            call = ToolCall(name=function, arguments={name: arguments[name] for name in names})
            if call not in found:  # two half answers, each completed by the other's half
                found.append(call)
    return link(found, tools, query)


def _together(instructions: Sequence[Tagged], called: Sequence[str], tools: Catalogue) -> list[str]:
    """Functions that an instruction without values names beside a called one: "Look into Travel and Hotels"."""
    found: dict[str, None] = {}
    for one in instructions:
        names = {action.name for action in one.actions}
        apart = all(left.end <= right.start for left, right in pairwise(sorted(one.actions, key=lambda a: a.start)))
        if apart and not any(action.slots for action in one.actions) and names.intersection(called):
            found |= {action.name: None for action in one.actions if action.name in tools}
    return [name for name in found if name not in called]


def _repaired(calls: Sequence[Arguments], facts: Sequence[Fact], said: str) -> list[Arguments]:
    told = {argument for fact in facts for argument in fact}
    stated: Arguments = {}
    for call in calls:
        for name, value in call.items():
            if name in told and value == ASKED:
                continue
            if name not in told or is_said(value.casefold(), said):
                stated.setdefault(name, value)
    wanted = branches(stated, facts)
    free = list(wanted)
    found = []
    for call in calls:
        branch = max(wanted, key=lambda one: _agreement(call, one))
        if branch in free:
            free.remove(branch)
        found.append({**call, **_lacking(call, branch)})
    preferred = {argument for fact in facts if len(fact) == 1 for argument in fact}
    return found + [branch for branch in free if len(wanted) > 1 and _is_alternative(branch, found, preferred)]


def _agreement(call: Mapping[str, str], branch: Mapping[str, str]) -> int:
    """Arguments on which they agree, minus those on which they do not."""
    return sum(1 if alike(call[name], value) else -1 for name, value in branch.items() if not _is_open(call, name))


def _lacking(call: Mapping[str, str], branch: Mapping[str, str]) -> Arguments:
    """What the branch says and the call does not, under whatever name: a value counts once."""
    if any(not _is_open(call, name) and not alike(call[name], value) for name, value in branch.items()):
        return {}
    held = {value.casefold() for value in call.values()}
    return {name: value for name, value in branch.items() if _is_open(call, name) and value.casefold() not in held}


def _is_open(call: Mapping[str, str], name: str) -> bool:
    return call.get(name, ASKED) == ASKED


def _is_alternative(branch: Mapping[str, str], calls: Sequence[Mapping[str, str]], preferred: set[str]) -> bool:
    """Whether it differs from every call in arguments that simple preferences are about, and only in such."""
    new = [
        name
        for name, value in branch.items()
        if any(name in call for call in calls) and not any(name in call and alike(call[name], value) for call in calls)
    ]
    return bool(new) and preferred.issuperset(new)
