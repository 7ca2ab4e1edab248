"""A LangGraph agent with a node that completes calls: decide -> personalise -> execute -> decide -> remember.

pip install 'prefine-dspy[local,examples]' && python -m prefine_dspy.lm pull
python examples/langgraph_agent.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_openai_messages
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph

import prefine_dspy as pf


@tool
def book_flight(destination: str, flight_class: Literal["Economy", "Business", "any"] = "any") -> str:
    """Book a flight."""
    return f"booked: {destination}, {flight_class}"


TOOLS = [convert_to_openai_tool(book_flight)]
State = MessagesState  # the conversation; a memory belongs to a user, not to a conversation, and is kept outside
Model = Callable[[Sequence[BaseMessage]], AIMessage]


def build(model: Model, agent: pf.Agent, memory: pf.UserMemory) -> Any:
    """The graph for one session of one user; cheap to build."""
    completed: dict[str, dict[str, Any]] = {}

    def decide(state: State) -> dict[str, Any]:
        return {"messages": [model(state["messages"])]}

    async def personalise(state: State) -> None:
        # The message stays as the model wrote it. Were the completed call logged, a memory would confirm itself.
        *before, last = convert_to_openai_messages(state["messages"])
        for call in last["tool_calls"]:
            done = await pf.acomplete(call, memory, TOOLS, query=before, agent=agent)
            completed[call["id"]] = done.calls[0].arguments

    def execute(state: State) -> dict[str, Any]:
        calls = convert_to_openai_messages(state["messages"])[-1]["tool_calls"]
        done = [(one["id"], book_flight.invoke(completed[one["id"]])) for one in calls]
        return {"messages": [ToolMessage(text, tool_call_id=id) for id, text in done]}

    def after(state: State) -> str:
        return "personalise" if getattr(state["messages"][-1], "tool_calls", None) else END

    graph = StateGraph(State).add_node(decide).add_node(personalise).add_node(execute)
    graph.add_edge(START, "decide").add_conditional_edges("decide", after)
    graph.add_edge("personalise", "execute").add_edge("execute", "decide")
    return graph.compile()


async def main(model: Model | None = None, agent: pf.Agent | None = None) -> list[str]:
    """Two sessions of one user: the second does not say the class."""
    personaliser = agent or pf.load("prefine-mpt", lm="local")

    def local(messages: Sequence[BaseMessage]) -> AIMessage:  # or ChatOpenAI(...).bind_tools(TOOLS).invoke
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("Done.")
        calls = personaliser(query=convert_to_openai_messages(messages), tools=TOOLS).calls
        return AIMessage("", tool_calls=[{"id": "1", "name": one.name, "args": one.arguments} for one in calls])

    results, memory = [], pf.UserMemory()
    for request in ("Book me an economy flight to Rome", "Book me a flight to Paris"):
        state = await build(model or local, personaliser, memory).ainvoke({"messages": [HumanMessage(request)]})
        memory = await personaliser.aupdate(memory, convert_to_openai_messages(state["messages"]), TOOLS)
        results += [str(message.content) for message in state["messages"] if isinstance(message, ToolMessage)]
    return results


if __name__ == "__main__":
    print("\n".join(asyncio.run(main())))
