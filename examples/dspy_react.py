"""A `dspy.ReAct` agent whose tools know their user.

pip install 'prefine-dspy[local]' && python -m prefine_dspy.lm pull
python examples/dspy_react.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import dspy

import prefine_dspy as pf
from prefine_dspy.lm import resolve


def book_flight(destination: str, flight_class: Literal["Economy", "Business", "any"] = "any") -> str:
    """Book a flight."""
    return f"booked: {destination}, {flight_class}"


def personal(tool: dspy.Tool, agent: pf.Agent, memory: pf.UserMemory, log: list[pf.ToolCall]) -> dspy.Tool:
    """The same tool, its calls completed from the memory before they run.

    Args:
        log: what ReAct itself asked for is added here. What the memory added is not: it would confirm itself.
    """

    def run(**given: Any) -> Any:
        call = pf.ToolCall(name=str(tool.name), arguments=given)
        done = pf.complete(call, memory, [tool], agent=agent)
        result = tool(**done.calls[0].arguments)
        log.append(call)  # only now: a call that failed is no evidence
        return result

    return dspy.Tool(run, name=tool.name, desc=tool.desc, args=tool.args, arg_types=tool.arg_types)


class TravelAgent(dspy.Module):
    """ReAct, with a memory of the user it is called for."""

    def __init__(self, tools: Sequence[dspy.Tool], personaliser: pf.Agent) -> None:
        super().__init__()
        self.tools = tools
        self.personaliser = personaliser

    def forward(self, request: str, memory: pf.UserMemory) -> dspy.Prediction:
        """Returns a prediction with `answer` and the new `memory`."""
        log: list[pf.ToolCall] = []
        # Built for every call: a tool that is bound to one user's memory must not serve the next one.
        react = dspy.ReAct(
            "request -> answer",
            tools=[personal(one, self.personaliser, memory, log) for one in self.tools],
            max_iters=4,
        )
        answer = react(request=request).answer
        session = pf.Session(id=f"s{memory.seen + 1}", turns=pf.Query.of(request).turns, calls=tuple(log))
        return dspy.Prediction(answer=answer, memory=self.personaliser.update(memory, session, self.tools))


def main(lm: dspy.LM | None = None, agent: pf.Agent | None = None) -> list[str]:
    """Two sessions of one user: the second does not say the class."""
    agent = agent or pf.load("prefine-mpt", lm="local")
    travel = TravelAgent([dspy.Tool(book_flight)], agent)
    answers, memory = [], pf.UserMemory()
    with dspy.context(lm=lm or resolve("local")):  # ReAct's LM; the personaliser brings its own
        for request in ("Book me an economy flight to Rome", "Book me a flight to Paris"):
            done = travel(request=request, memory=memory)
            answers.append(done.answer)
            memory = done.memory
    return answers


if __name__ == "__main__":
    print("\n".join(main()))
