"""`python -m eval.score`: score recorded predictions against gold, without running any program.

Prints one JSON line an item, in gold order, and a summary for people on stderr. Exit code 2 for bad input.

The gold file has a line `{"id": ..., "gold": ...}` an item, the prediction file `{"id": ..., "prediction": ...}`. For
`mpt` and `nlsi` gold is a list of call strings, and the prediction the LM's text or a list of texts; for `tags` both
are tagged texts in bracket or angle form. NLSI gold lines may say their `reasoning_type`, for figures by type.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from eval.metrics import reference
from eval.scoring.files import join, read_column, read_labels
from eval.scoring.mpt import MPT
from eval.scoring.nlsi import NLSI
from eval.scoring.tags import TAGS
from eval.scoring.task import Pairs, Scored, Settings, Task
from prefine_dspy.errors import InputError, PrefineError

__all__ = ["TASKS", "Pairs", "Settings", "app", "score_files"]

BAD_INPUT = 2
TASKS: dict[str, Task] = {"mpt": MPT, "nlsi": NLSI, "tags": TAGS}
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    task: Annotated[str, typer.Option(help=f"the benchmark: {', '.join(TASKS)}")],
    gold: Annotated[Path, typer.Option(help="JSONL with id and gold")],
    pred: Annotated[Path, typer.Option(help="JSONL with id and prediction")],
    scorer: Annotated[str, typer.Option(help="strict, or reference for the published evaluator")] = "strict",
    today: Annotated[
        str, typer.Option(help="ISO date or time that the reference scorer reads relative dates from")
    ] = reference.DEFAULT_TODAY.isoformat(),
    schema: Annotated[Literal["base", "extended"], typer.Option(help="extended: with the unseen functions")] = "base",
    locations: Annotated[
        Path | None,
        typer.Option(help="nlsi, reference: the published alias table, by default ../shared/data/taps/locations.json"),
    ] = None,
    missing: Annotated[
        Literal["error", "empty"], typer.Option(help="what a gold item without a prediction is")
    ] = "error",
) -> None:
    """Score recorded predictions against gold."""
    try:
        scored = score_files(task, scorer, gold, pred, Settings(schema, read_today(today), locations), missing)
    except PrefineError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from error
    sys.stdout.write("".join(f"{json.dumps(item)}\n" for item in scored.items))
    sys.stdout.flush()
    print(scored.summary, file=sys.stderr)


def read_today(text: str) -> datetime:
    """An ISO date or time, as naive UTC.

    Raises:
        InputError: it is none.
    """
    try:
        today = datetime.fromisoformat(text)
        return today.astimezone(UTC).replace(tzinfo=None) if today.tzinfo else today
    except (ValueError, OverflowError) as error:
        raise InputError(f"--today {text!r} is no ISO date: write it as 2026-06-15 or 2026-06-15T12:00:00") from error


def score_files(
    task: str,
    scorer: str,
    gold: Path,
    pred: Path,
    settings: Settings = Settings(),  # noqa: B008 - an immutable tuple
    missing: Literal["error", "empty"] = "error",
) -> Scored:
    """Score one prediction file against one gold file.

    Raises:
        InputError: an unknown task or scorer, or files that cannot be read or do not fit together.
        MissingExtra: the scorer needs a package that is not installed.
    """
    if task not in TASKS:
        raise InputError(f"unknown task {task!r}: choose from {', '.join(TASKS)}")
    scorers = TASKS[task].scorers
    if scorer not in scorers:
        raise InputError(f"task {task!r} has no scorer {scorer!r}: choose from {', '.join(scorers)}")
    pairs = join(read_column(gold, "gold"), read_column(pred, "prediction"), missing)
    return scorers[scorer](pairs, settings._replace(reasoning_types=read_labels(gold, "reasoning_type")))


if __name__ == "__main__":
    app()
