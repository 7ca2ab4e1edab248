"""JSONL files of gold and predictions, joined by id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from eval.scoring.task import Id, Pairs
from prefine_dspy.errors import InputError


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


def read_labels(path: Path, column: str) -> dict[Id, str]:
    """A column of text that lines may have or lack, by id."""
    return {
        record["id"]: record[column]
        for _, record in _records(path)
        if isinstance(record.get("id"), str | int) and isinstance(record.get(column), str)
    }


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
