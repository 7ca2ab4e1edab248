"""An MCP client that completes calls from a user's memory before it sends them to a server.

    pip install 'prefine-dspy[local,examples]' && python -m prefine_dspy.lm pull
    python examples/mcp_client.py

The other way round, memory and completion as MCP tools for any client: python -m prefine_dspy.mcp
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from mcp import Client
from mcp.server.mcpserver import MCPServer

import prefine_dspy as pf

# A server in this process stands for any server: Client() also takes a URL or a command.
server = MCPServer("travel")


@server.tool()
def book_flight(destination: str, flight_class: Literal["Economy", "Business", "any"] = "any") -> str:
    """Book a flight."""
    return f"booked: {destination}, {flight_class}"


async def serve(client: Client, agent: pf.Agent, memory: pf.UserMemory, request: str) -> tuple[str, pf.UserMemory]:
    """One session: the request becomes calls, the calls are sent, and what worked is remembered."""
    tools = (await client.list_tools()).tools
    result = await agent.acall(query=request, tools=tools, memory=memory)
    print(result.explain())
    log: list[Any] = []
    answers = []
    for number, (sent, stated) in enumerate(zip(result.calls.to_mcp(), result.stated.to_mcp(), strict=True)):
        answer = await client.call_tool(**sent)
        answers.append("\n".join(part.text for part in answer.content if part.type == "text"))
        # Only what the user stated is logged. Were the memory's own values logged, a memory would confirm itself.
        log.append({"id": number, "method": "tools/call", "params": stated})
        log.append({"id": number, "result": answer})  # a call that failed is no evidence
    return "\n".join(answers), await agent.aupdate(memory, log, tools)


async def main(agent: pf.Agent | None = None) -> list[str]:
    """Two sessions of one user: the second does not say the class."""
    agent = agent or pf.load("prefine-mpt", lm="local")
    answers, memory = [], pf.UserMemory()
    async with Client(server) as client:
        for request in ("Book me an economy flight to Rome", "Book me a flight to Paris"):
            answer, memory = await serve(client, agent, memory, request)
            answers.append(answer)
    return answers


if __name__ == "__main__":
    print("\n".join(asyncio.run(main())))
