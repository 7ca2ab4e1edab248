"""What every corpus converter yields, and how its command prints it: one JSON line a dialogue."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

import typer

from prefine_dspy.errors import InputError
from prefine_dspy.types import Session


class CorpusRecord(NamedTuple):
    """A converted dialogue.

    Args:
        session: the dialogue as a session; its calls are the record that counts.
        deprecated: call strings of what the tools have no argument for (`deprecated_api_call` of released files).
    """

    session: Session
    deprecated: tuple[str, ...] = ()

    def row(self) -> dict[str, object]:
        """The keys of the released format that do not hold dialogue text."""
        return {
            "dialogue_id": self.session.id,
            "api_call": [str(call) for call in self.session.calls],
            "deprecated_api_call": list(self.deprecated),
        }


def print_records(records: Iterable[CorpusRecord]) -> None:
    """Print one JSON line a record, as UTF-8 whatever the terminal's encoding.

    Unusable input becomes one line on stderr and exit code 2, and then nothing is printed: half an output looks whole.
    """
    try:
        lines = [json.dumps(record.row(), ensure_ascii=False).encode("utf-8") for record in records]
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if lines:
        typer.echo(b"\n".join(lines))
