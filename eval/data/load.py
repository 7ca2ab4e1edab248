"""`load_benchmark`: the shipped mini data, a folder made by `eval.data.build`, a file in MPT's format, or MPT."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from eval.data.balance import balanced
from eval.data.catalogue import catalogues, preference_slots
from eval.data.files import HISTORIES, INSTANCES, identity, read_instances, read_records
from eval.data.released import load_hub, load_released
from eval.instance import Benchmark, Instance
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History

__all__ = ["balanced", "catalogue_of", "load_benchmark"]

MINI = Path(__file__).parent / "mini"

Schema = Literal["base", "extended"]


def load_benchmark(name_or_path: str | Path, schema: Schema = "base") -> Benchmark:
    """Loads a benchmark.

    Its catalogues are "base" (what a context-guided query is asked with), "base_cf" (context-free ones) and
    "extended"; `catalogue_of` picks the right one.

    Args:
        name_or_path: "mini", "mpt" (Hugging Face HYU-NLP/MPT), a build folder, or a JSON or JSONL file in MPT's format.
        schema: "base", or "extended" for the instances over the seven functions that no history calls.

    Raises:
        InputError: it is not there or cannot be read; names the file and line, or the record and its key.
    """
    if schema not in ("base", "extended"):
        raise InputError(f"no schema {schema!r}: use base or extended")
    name = str(name_or_path)
    histories, instances = _content(name)
    _check_text(name, [*histories.values(), *instances])
    wanted = [instance for instance in instances if instance.schema_name == schema]
    missing = sorted({instance.history_id for instance in wanted} - histories.keys())
    if missing:
        raise InputError(f"{name}: instances refer to history {missing[0]!r}, which is not in {HISTORIES}")
    used = {instance.history_id for instance in wanted}
    kept = {key: history for key, history in histories.items() if key in used}
    return Benchmark(
        name=name if name in ("mini", "mpt") else Path(name).stem,
        histories=kept,
        instances=wanted,
        catalogues=catalogues(),
        preference_slots=preference_slots(),
        identity=identity([*kept.values(), *wanted]),
    )


def catalogue_of(benchmark: Benchmark, instance: Instance) -> Catalogue:
    """The tools that are shown with an instance's query."""
    if instance.schema_name == "extended":
        return benchmark.catalogues["extended"]
    return benchmark.catalogues["base_cf" if instance.query_type == "cf" else "base"]


def _content(name: str) -> tuple[dict[str, History], list[Instance]]:
    if name == "mpt":
        return load_hub()
    path = MINI if name == "mini" else Path(name)
    if path.is_dir():
        for needed in (HISTORIES, INSTANCES):
            if not (path / needed).is_file():
                raise InputError(f"{path} has no {needed}: make one with python -m eval.data.build --out {path}")
        histories = [record.history for record in read_records(path)]
        instances = read_instances(path)
        _check_unique(path / HISTORIES, [history.id for history in histories])
        _check_unique(path / INSTANCES, [instance.id for instance in instances])
        return {history.id: history for history in histories}, instances
    if path.is_file():
        return load_released(path)
    raise InputError(
        f"no benchmark {name!r}: use mini, mpt, a folder made by eval.data.build, or a file in MPT's format"
    )


def _check_unique(file: Path, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise InputError(f"{file}: id {one!r} is there more than once: remove one of them")
        seen.add(one)


def _check_text(name: str, parts: Iterable[History | Instance]) -> None:
    """JSON may spell half a character ("\\ud800"), which no LM can be sent and no file can hold."""
    for part in parts:
        try:
            part.model_dump_json()
        except ValueError:
            raise InputError(
                f"{name}: {part.id!r} holds half a character (a lone surrogate, \\ud800 to \\udfff): correct the file"
            ) from None
