"""A benchmark as a folder: histories.jsonl, instances.jsonl, stats.json, manifest.json. Same input, same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from eval.data.compose import Record
from eval.data.stats import build_stats
from eval.instance import Instance
from prefine_dspy.errors import InputError

Model = TypeVar("Model", bound=BaseModel)

FORMAT_VERSION = 1
HISTORIES, INSTANCES, STATS, MANIFEST = "histories.jsonl", "instances.jsonl", "stats.json", "manifest.json"


def write_benchmark(
    out: Path, records: Sequence[Record], instances: Sequence[Instance], manifest: dict[str, Any]
) -> dict[str, Any]:
    """Writes the folder and returns its statistics.

    Args:
        out: made when absent; files of the same names are replaced.
        records: the histories with where they come from.
        instances: over them.
        manifest: how it was made (seed, rules, inputs with their sha256); the files' own sha256 are added.
    """
    out.mkdir(parents=True, exist_ok=True)
    stats = build_stats(records, instances)
    contents = {
        HISTORIES: "".join(_line(record) for record in records),
        INSTANCES: "".join(_line(instance) for instance in instances),
        STATS: _pretty(stats),
    }
    for name, text in contents.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    sums = {name: sha256(text.encode("utf-8")).hexdigest() for name, text in contents.items()}
    whole = {"format": FORMAT_VERSION, **manifest, "files": sums}
    (out / MANIFEST).write_text(_pretty(whole), encoding="utf-8", newline="\n")
    return stats


def read_records(folder: Path) -> list[Record]:
    """The histories of a build folder. Raises InputError that names file, line and key."""
    return list(read_lines(folder / HISTORIES, Record))


def read_instances(folder: Path) -> list[Instance]:
    """The instances of a build folder. Raises InputError that names file, line and key."""
    return list(read_lines(folder / INSTANCES, Instance))


def read_lines(path: Path, model: type[Model]) -> Iterator[Model]:
    """The objects of a JSON Lines file, checked."""
    for where, value in json_lines(path):
        try:
            yield model.model_validate(value)
        except ValidationError as error:
            problem = error.errors()[0]
            key = ".".join(str(part) for part in problem["loc"])
            raise InputError(f"{where}: key {key!r}: {problem['msg']}") from None


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """("file:line", value) of every line that is not empty."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", parse_json(line, path, number)


def read_text(path: Path) -> str:
    """A file's text, or an InputError that says why not."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from None


def parse_json(text: str, path: Path, first_line: int = 1) -> Any:
    """The JSON value that begins in a line of a file, or an InputError that says where it breaks."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{path}:{first_line + error.lineno - 1}"
        raise InputError(f"{where}: not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise InputError(f"{path}:{first_line}: JSON nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{path}:{first_line}: cannot be used: {str(error).partition(';')[0]}") from None


def identity(parts: Iterable[BaseModel]) -> str:
    """sha256 over the content of histories and instances."""
    digest = sha256()
    for part in parts:
        digest.update(part.model_dump_json().encode("utf-8"))
        digest.update(b"\n")
    return digest.hexdigest()


def _line(model: BaseModel) -> str:
    value = model.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
