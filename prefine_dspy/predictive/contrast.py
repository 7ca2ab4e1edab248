"""Contrastive tool calling: fill in what the memory makes likelier than it was, and nothing else.

    query alone -> function and stated arguments -> for each argument left out: P(value | memory) against P(value)

The function is chosen without the memory, which says how things are done and pulls a small LM to the tools it is about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.parsing_fit import Dropped
from prefine_dspy.predictive.correction import Prior, Priors, correction
from prefine_dspy.predictive.kept import hypotheses, moved, named_values
from prefine_dspy.predictive.lift import Lift, Measure, lift_rule
from prefine_dspy.predictive.lifter import measure_lifts
from prefine_dspy.predictive.places import Key, Place, places
from prefine_dspy.provenance import is_stated
from prefine_dspy.rendering import query_text
from prefine_dspy.tools import Catalogue, Tool
from prefine_dspy.types import Memory, Query, ToolCall, value_text

Because = Literal["habit", "hypothesis", "query"]
SAID = "They now say: "


class Considered(NamedTuple):
    """An argument that the query leaves out, and what was made of it.

    Args:
        value: the likeliest one.
        lift: the size of the move, by the caller's measure; of a habit, 1 for each session that showed it.
        because: a habit, a hypothesis, or the query in other words.
        source: the hypothesis; empty for the others.
        filled: whether the call has it.
    """

    function: str
    argument: str
    value: str
    lift: float
    because: Because
    source: str
    filled: bool

    @property
    def confidence(self) -> float:
        """The lift between 0 and 1 (1 - exp(-lift))."""
        return round(1.0 - math.exp(-self.lift), 4)


class ContrastiveCaller(ToolCaller):
    """Args:
    measure, threshold: see `LiftRule`; chosen on dev (`calibration.choose_threshold`).
    prior, priors: see `Correction`.

    Example:
        caller = ContrastiveCaller(threshold=0.08)
        with dspy.context(lm=resolve("local")):
            caller(query=Query.of("Book me a flight"), tools=catalogue, memory="The user prefers low cost.").calls
    """

    def __init__(
        self, measure: Measure = "kl", threshold: float = 0.08, prior: Prior = "uniform", priors: Priors | None = None
    ) -> None:
        super().__init__()
        self.rule = lift_rule(measure, threshold)
        self.correction = correction(prior, priors)

    def forward(self, query: Query, tools: Catalogue, memory: Memory | str = "") -> dspy.Prediction:
        """See `ToolCaller.forward`. The prediction also has `considered`, a list of `Considered` for each call, and
        `confidences`, for each call the confidence of the arguments that were filled in.

        Args:
            memory: with recurring choices and several hypotheses, or a text as one hypothesis.
        """
        return self._completed(super().forward(query, tools, ""), query, tools, memory)

    async def aforward(self, query: Query, tools: Catalogue, memory: Memory | str = "") -> dspy.Prediction:
        """See `forward`."""
        prediction = await super().aforward(query, tools, "")
        completed: dspy.Prediction = await dspy.asyncify(self._completed)(prediction, query, tools, memory)
        return completed

    def consider(self, call: ToolCall, tool: Tool, tools: Catalogue, memory: Memory | str) -> list[Considered]:
        """What would be made of the arguments that a call leaves out.

        Args:
            call: with what was stated.
            tool: its function.
            tools: the catalogue.
            memory: as in `forward`.
        """
        completion = _Completion(self, tool, tools, "", memory)
        completion.complete(call)
        return completion.considered

    def _completed(
        self, prediction: dspy.Prediction, query: Query, tools: Catalogue, memory: Memory | str
    ) -> dspy.Prediction:
        calls: list[ToolCall] = []
        considered: list[list[Considered]] = []
        problems = list(prediction.problems)
        for call in prediction.calls:
            tool = tools.get(call.name)
            if tool is None:
                calls.append(call)
                considered.append([])
                continue
            completion = _Completion(self, tool, tools, query_text(query), memory)
            calls.append(completion.complete(call))
            considered.append(completion.considered)
            problems += [
                Dropped("not_grounded", call.name, name, value_text(value))
                for name, value in completion.guesses.items()
            ]
        prediction.calls, prediction.considered, prediction.problems = calls, considered, problems
        prediction.confidences = [{one.argument: one.confidence for one in those if one.filled} for those in considered]
        return prediction


class _Completion:
    """One call while it is completed."""

    def __init__(
        self, caller: ContrastiveCaller, tool: Tool, tools: Catalogue, query: str, memory: Memory | str
    ) -> None:
        self.caller = caller
        self.tool = tool
        self.tools = tools
        self.query = query
        self.memory = memory
        self.considered: list[Considered] = []
        self.guesses: dict[str, Any] = {}

    def complete(self, call: ToolCall) -> ToolCall:
        """The call with what was stated, what the user always chooses, and what a hypothesis or the query moves."""
        self.guesses = {name: value for name, value in call.arguments.items() if self._is_guess(name, value)}
        arguments = {name: value for name, value in call.arguments.items() if name not in self.guesses}
        left = [(self.tool.name, one.name) for one in self.tool.parameters if one.name not in arguments]
        self._habits(left)
        self._hypotheses([key for key in left if not self._is_filled(key)])
        self._query([key for key in left if key[1] in self.guesses and not self._is_filled(key)])
        filled = {one.argument: one.value for one in self.considered if one.filled}
        self.guesses = {name: value for name, value in self.guesses.items() if name not in filled}
        whole = {**arguments, **filled}
        order = [one.name for one in self.tool.parameters]
        return ToolCall(name=call.name, arguments={name: whole[name] for name in order if name in whole})

    def _is_guess(self, name: str, value: Any) -> bool:
        """A lasting argument with a closed set that the conversation does not say: the LM may have made it up."""
        parameter = self.tool.parameter(name)
        if parameter is None or parameter.transient or value in parameter.markers or parameter.required:
            return False
        values = value if isinstance(value, list) else [value]
        predictable = bool(parameter.choices()) or all(value_text(one).isdecimal() for one in values)
        return predictable and not is_stated(_typed(value, parameter.type), name, self.query)

    def _is_filled(self, key: Key) -> bool:
        return any(one.filled and one.argument == key[1] for one in self.considered)

    def _habits(self, keys: Sequence[Key]) -> None:
        """What was chosen for this very argument in several sessions, more often than anything else."""
        if isinstance(self.memory, str):
            return
        for function, argument in keys:
            found = sorted(
                (
                    (len(one.sessions), one.value)
                    for one in self.memory.evidence
                    if (one.function, one.argument) == (function, argument)
                ),
                reverse=True,
            )
            if found and (len(found) == 1 or found[0][0] > found[1][0]):
                times, value = found[0]
                self.considered.append(Considered(function, argument, value, float(times), "habit", "", True))

    def _hypotheses(self, keys: Sequence[Key]) -> None:
        """What a hypothesis moves; of several, the one that moves the argument most."""
        known = {key: named_values(self.memory) for key in keys}
        measured = measure_lifts(hypotheses(self.memory), places(self.tools, keys, known), self.caller.correction)
        rule = self.caller.rule
        for key in keys:
            found = moved(measured.by_text, key)
            if found:
                text, lift = max(found, key=lambda one: one[1].by(rule.measure))
                self._consider(key, lift, "hypothesis", text)

    def _query(self, keys: Sequence[Key]) -> None:
        """The LM's guesses: kept where the conversation moves them, in other words than the value's own."""
        if not keys:
            return
        asked: list[Place] = [one for one in places(self.tools, keys, {}) if one.kind != "open"]
        text = SAID + self.query
        for key, lift in measure_lifts([text], asked, self.caller.correction).by_text[text].items():
            if lift.best == value_text(self.guesses[key[1]]):
                self._consider(key, lift, "query", "")

    def _consider(self, key: Key, lift: Lift, because: Because, source: str) -> None:
        filled = self.caller.rule.moves(lift) and lift.up
        size = lift.by(self.caller.rule.measure) if lift.up else 0.0
        self.considered.append(Considered(*key, lift.best, size, because, source, filled))


def _typed(value: Any, kind: str) -> Any:
    """Booleans as such: the caller writes them as text, and what says them is the argument's name."""
    return value_text(value) == "True" if kind == "boolean" else value
