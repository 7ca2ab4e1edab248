"""Which arguments can be predicted, and among which values.

- closed: a closed set of values with a choice.
- single: a closed set of one, a switch that is set or left out: judged against leaving it to other values.
- count: no known set, but the LM itself expects a small number there ("number_of_tickets").
- open: names and the like, which can be read but not inferred: only values that the text names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.lm.values import ValueQuestion
from prefine_dspy.rendering import NOTHING
from prefine_dspy.shared_context import is_said
from prefine_dspy.signatures import FillArgument
from prefine_dspy.tools import Catalogue, Parameter, Tool

Kind = Literal["closed", "single", "count", "open"]
Key = tuple[str, str]  # (function, argument)
COUNTS = tuple(str(number) for number in range(1, 6))
COUNT_COVERAGE = 0.1
"""From which probability of `COUNTS` on an argument is one that counts something."""


class Place(NamedTuple):
    """One argument of one function.

    Args:
        values: that it may have; of an open one those that are known of the user.
    """

    function: str
    argument: str
    kind: Kind
    values: tuple[str, ...]

    @property
    def key(self) -> Key:
        return self.function, self.argument

    def named_in(self, text: str) -> Place | None:
        """An open place with the values that the text names, None if it names none; other places as they are."""
        if self.kind != "open":
            return self
        plain = text.casefold()
        named = tuple(one for one in self.values if is_said(one.casefold(), plain))
        return self._replace(values=named) if named else None

    def question(self, text: str, measure_all: bool = False) -> ValueQuestion:
        """What an LM that knows the text would write here.

        Args:
            text: a hypothesis; empty for nothing.
            measure_all: measure also how much of the LM's probability the values have.
        """
        given = "tool" if self.argument == "function" else "function"
        return ValueQuestion(
            instructions=FillArgument.instructions,
            text=CompactAdapter().format_user_message_content(FillArgument, {"memory": text or NOTHING}),
            given=((given, self.function),),
            field=self.argument,
            values=self.values,
            open=measure_all or self.kind in ("single", "open"),
        )


def place(tool: Tool, parameter: Parameter, known: Mapping[Key, Iterable[str]]) -> Place | None:
    """The place of an argument, or None where nothing can be predicted.

    Args:
        tool: the function.
        parameter: its argument; transient ones say what is done this once.
        known: values of open arguments, by function and argument.
    """
    if parameter.transient or parameter.type in ("array", "object"):
        return None
    choices = tuple(dict.fromkeys(one for one in parameter.choices() if one))
    if choices:
        return Place(tool.name, parameter.name, "closed" if len(choices) > 1 else "single", choices)
    values = tuple(dict.fromkeys(one for one in known.get((tool.name, parameter.name), ()) if one.strip()))
    if values and not any(one in COUNTS for one in values):
        return Place(tool.name, parameter.name, "open", values)
    return None if parameter.enum else Place(tool.name, parameter.name, "count", COUNTS)


def places(tools: Catalogue, keys: Iterable[Key], known: Mapping[Key, Iterable[str]]) -> list[Place]:
    """The places of arguments, without those where nothing can be predicted."""
    found = []
    for function, argument in dict.fromkeys(keys):
        tool = tools.get(function)
        parameter = tool.parameter(argument) if tool else None
        one = place(tool, parameter, known) if tool and parameter else None
        if one is not None:
            found.append(one)
    return found
