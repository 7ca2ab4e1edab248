"""Memory and completion as MCP tools, for agents that are written in anything: `python -m prefine_dspy.mcp`."""

from prefine_dspy.mcp_server.first_use import AgentAtFirstUse
from prefine_dspy.mcp_server.memory_tools import MemoryTools
from prefine_dspy.mcp_server.server import server_of

__all__ = ["AgentAtFirstUse", "MemoryTools", "server_of"]
