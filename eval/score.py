"""`python -m eval.score`: score recorded predictions against gold, without running any program.

Prints one JSON line an item, in gold order, and a summary for people on stderr. Exit code 2 for bad input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from eval.data.catalogue import base_catalogue, extended_catalogue, preference_slots, unseen_functions
from eval.metrics import reference, slots
from eval.metrics.counts import ItemScore, PreferenceSlots
from eval.metrics.summary import summarise, summary_text
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.parsing import parse_calls
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall

BAD_INPUT = 2
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Settings(NamedTuple):
    """The choices of the command line that a scorer may need."""

    schema: Literal["base", "extended"] = "base"
    today: datetime = reference.DEFAULT_TODAY


Id = str | int
Pairs = dict[Id, tuple[Any, Any]]
"""(gold, prediction) by id, in gold order."""


class Scored(NamedTuple):
    """Output of a task: one JSON object an item, and the summary."""

    items: list[dict[str, Any]]
    summary: str


class Task(NamedTuple):
    """A benchmark that can be scored from files: its scorers by name, each of gold and prediction by id."""

    scorers: dict[str, Callable[[Pairs, Settings], Scored]]


# ---------------------------------------------------------------------------------------------------- MPT


def _slots(settings: Settings) -> PreferenceSlots:
    """The published list has the 24 base functions only; the unseen ones count when they are in the schema."""
    unseen = unseen_functions() if settings.schema == "base" else ()
    return {function: slots for function, slots in preference_slots().items() if function not in unseen}


def _reference(pairs: Pairs, settings: Settings) -> Scored:
    chosen = _slots(settings)
    scores = {
        one: reference.score_item(gold, prediction, chosen, settings.today) for one, (gold, prediction) in pairs.items()
    }
    about = {
        "scorer": "reference (the published evaluator)",
        "relative dates read from": settings.today.isoformat(),
        "dateparser": reference.dateparser_version(),
    }
    return _scored(scores, about)


def _strict(pairs: Pairs, settings: Settings) -> Scored:
    chosen = _slots(settings)
    catalogue = base_catalogue() if settings.schema == "base" else extended_catalogue()
    scores = {}
    for one, (gold, prediction) in pairs.items():
        if not isinstance(gold, list) or not all(isinstance(text, str) for text in gold):
            raise InputError(f'id {one!r}: "gold" must be a list of call strings: ["GetHotels(average_star=...)"]')
        scores[one] = strict_score(gold, prediction, chosen, catalogue)
    return _scored(scores, {"scorer": "strict"})


def strict_score(gold: list[str], prediction: object, slots_: PreferenceSlots, catalogue: Catalogue) -> ItemScore:
    """The strict score of a recorded answer, which is read tolerantly but not corrected: what it says, counts."""
    wanted: list[ToolCall] = [call for text in gold for call in parse_calls(text).calls]
    parsed = parse_calls(prediction)
    return slots.score_item(wanted, parsed.calls, slots_, parse_failed=parsed.parse_failed, catalogue=catalogue)


def _scored(scores: dict[Id, ItemScore], about: dict[str, str]) -> Scored:
    items = [{"id": one, **score.as_dict()} for one, score in scores.items()]
    return Scored(items, summary_text(summarise(list(scores.values())), about))


TASKS: dict[str, Task] = {
    "mpt": Task({"reference": _reference, "strict": _strict}),
}

# -------------------------------------------------------------------------------------------------- files


def read_column(path: Path, column: str) -> dict[Id, Any]:
    """One column of a JSONL file by id, in file order.

    Raises:
        InputError: the file cannot be read, a line is malformed or an id is there twice; names file and line.
    """
    values: dict[Id, Any] = {}
    lines: dict[Id, int] = {}
    for number, record in _records(path):
        where = f"{path}, line {number}"
        one = record.get("id")
        if not isinstance(one, str | int) or isinstance(one, bool):
            raise InputError(f'{where}: needs an "id" (text or a whole number)')
        if column not in record:
            raise InputError(f'{where}: id {one!r} has no "{column}"')
        if one in lines:
            raise InputError(f"{where}: id {one!r} is there already, in line {lines[one]}")
        values[one], lines[one] = record[column], number
    if not values:
        raise InputError(f'{path} holds no items: one JSON object a line is needed, with "id" and "{column}"')
    return values


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}, line {number}: is not UTF-8 text") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: is not JSON ({error})") from error
        if not isinstance(record, dict):
            raise InputError(f"{path}, line {number}: must be a JSON object, not {type(record).__name__}")
        yield number, record


def join(gold: dict[Id, Any], predictions: dict[Id, Any], missing: Literal["error", "empty"] = "error") -> Pairs:
    """Gold and prediction by id, in gold order.

    Raises:
        InputError: ids of one side are not on the other. A gold id without a prediction is scored as an empty answer
            with `missing="empty"`, since leaving it out would lift the score.
    """
    unknown = [one for one in predictions if one not in gold]
    if unknown:
        raise InputError(f"{len(unknown)} predictions have no gold: {_some(unknown)}: are the files of the same data?")
    absent = [one for one in gold if one not in predictions]
    if absent and missing == "error":
        raise InputError(
            f"{len(absent)} gold items have no prediction: {_some(absent)}: add them, "
            "or pass --missing empty to score them as empty answers"
        )
    return {one: (value, predictions.get(one, "")) for one, value in gold.items()}


def _some(ids: list[Id]) -> str:
    return ", ".join(map(repr, ids[:5])) + (", ..." if len(ids) > 5 else "")


# ------------------------------------------------------------------------------------------------ command


@app.command()
def main(
    task: Annotated[str, typer.Option(help=f"the benchmark: {', '.join(TASKS)}")],
    gold: Annotated[Path, typer.Option(help="JSONL with id and gold")],
    pred: Annotated[Path, typer.Option(help="JSONL with id and prediction")],
    scorer: Annotated[str, typer.Option(help="mpt: strict, or reference for the published evaluator")] = "strict",
    today: Annotated[
        str, typer.Option(help="ISO date or time that the reference scorer reads relative dates from")
    ] = reference.DEFAULT_TODAY.isoformat(),
    schema: Annotated[Literal["base", "extended"], typer.Option(help="extended: with the unseen functions")] = "base",
    missing: Annotated[
        Literal["error", "empty"], typer.Option(help="what a gold item without a prediction is")
    ] = "error",
) -> None:
    """Score recorded predictions against gold."""
    try:
        scored = score_files(task, scorer, gold, pred, Settings(schema, read_today(today)), missing)
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
    return scorers[scorer](pairs, settings)


if __name__ == "__main__":
    app()
