"""From the calls that a dialogue asks for, and tagged instructions, to the calls that are meant."""

from __future__ import annotations

from collections.abc import Sequence

from prefine_dspy.composition.branches import branches
from prefine_dspy.composition.facts import facts_by_function
from prefine_dspy.shared_context import link
from prefine_dspy.tagging import Tagged
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Query, ToolCall, value_text


def compose(
    requested: Sequence[ToolCall], instructions: Sequence[Tagged], tools: Catalogue, query: Query
) -> list[ToolCall]:
    """The calls, the dialogue's own functions first.

    Args:
        requested: what the dialogue says, as calls.
        instructions: the applicable instructions with their tags.
        tools: the catalogue; arguments stand in its order.
        query: the dialogue, for what the calls have in common (`shared_context.link`).
    """
    found: list[ToolCall] = []
    for function, facts in facts_by_function([call.name for call in requested], instructions, tools).items():
        own = [call for call in requested if call.name == function]
        if len(own) > 1 and not facts:
            found += own
            continue
        stated = {name: value_text(value) for call in own for name, value in call.arguments.items()}
        tool = tools.get(function)
        order = [parameter.name for parameter in tool.parameters] if tool else []
        for arguments in branches(stated, facts):
            kept = {name: arguments[name] for name in order if name in arguments}
            found.append(ToolCall(name=function, arguments=kept))
    return link(found, tools, query)
