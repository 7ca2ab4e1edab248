"""`python -m prefine_dspy.mcp`: an MCP server on standard input and output.

In a client's configuration: {"command": "python", "args": ["-m", "prefine_dspy.mcp", "--lm", "openai/gpt-5-mini"]}
"""

from __future__ import annotations

from typing import Annotated

import typer

from prefine_dspy import command

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def serve(
    program: Annotated[
        str,
        typer.Option(help="a shipped program's name, a compiled one's folder, or python:module:attribute (a module)"),
    ] = "prefine-mpt",
    lm: Annotated[
        str,
        typer.Option(help="local, provider/model (see prefine_dspy.lm), or python:module:attribute (a dspy.LM)"),
    ] = "local",
    store: Annotated[
        str | None,
        typer.Option(
            help="sqlite:///PATH, a path or postgresql://...; else $PREFINE_STORE, else the user's data folder"
        ),
    ] = None,
    keep_dialogue: Annotated[
        bool, typer.Option("--keep-dialogue", help="keep what was said in sessions too, not the calls alone")
    ] = False,
) -> None:
    """Serve memory and completion of tool calls to any MCP client, over standard input and output."""
    from prefine_dspy.mcp_server import AgentAtFirstUse, MemoryTools, server_of
    from prefine_dspy.store import PreferenceStore

    with PreferenceStore(store, keep_dialogue=keep_dialogue) as opened:
        server_of(MemoryTools(opened, AgentAtFirstUse(program, lm))).run("stdio")


def main() -> None:
    """The command; errors of ours are one line."""
    command.run(app)


if __name__ == "__main__":
    main()
