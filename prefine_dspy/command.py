"""How every command of the package ends: an error of ours is one line, and exit code 2."""

from __future__ import annotations

import sys

import typer

from prefine_dspy.errors import PrefineError


def run(app: typer.Typer) -> None:
    """Run a command line; what is raised on purpose becomes `error: ...` on stderr."""
    try:
        app(standalone_mode=True)
    except PrefineError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
