"""The tools behind the protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from prefine_dspy import __version__
from prefine_dspy.errors import PrefineError
from prefine_dspy.mcp_server.memory_tools import MemoryTools

INSTRUCTIONS = """\
Remembers how each user likes things done, from the tool calls of their earlier sessions. Before you call a tool for a
user, let complete_call fill in what the user did not say. After a session, hand it to observe_session. Users may read,
correct and delete what is remembered of them."""


def server_of(tools: MemoryTools) -> MCPServer[Any]:
    """The server; `run("stdio")` serves until its client goes."""
    # Rejected arguments and error texts are a user's data: they go to the client, not into a log.
    server: MCPServer[Any] = MCPServer(
        "prefine", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING", subscriptions=False
    )
    read = ToolAnnotations(read_only_hint=True)
    change = ToolAnnotations(read_only_hint=False, destructive_hint=False)
    delete = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)
    for function, hints in (
        (tools.complete_call, read),
        (tools.observe_session, change),
        (tools.show_memory, read),
        (tools.correct_memory, delete),
        (tools.forget_me, delete),
    ):
        server.add_tool(_told(function), annotations=hints)
    return server


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its errors as what MCP shows to the client: one line, no traceback."""

    @functools.wraps(function)
    def tool(*args: Any, **kwargs: Any) -> Any:
        with _one_line_errors():
            return function(*args, **kwargs)

    return tool


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except PrefineError as error:
        raise ToolError(str(error)) from None
    except Exception as error:  # an LM, mostly: unreachable, refused, out of context ...
        first = (str(error).strip().splitlines() or [""])[0][:300]
        raise ToolError(f"this failed: {type(error).__name__}: {first}") from None
