"""`load_benchmark`: the shipped mini data, a folder made by `eval.data.build`, a file in MPT's format, or MPT itself."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from eval.data.catalogue import catalogues, preference_slots
from eval.data.files import HISTORIES, INSTANCES, identity, read_instances, read_records
from eval.data.released import load_hub, load_released
from eval.instance import Benchmark, Instance
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History

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


def balanced(instances: Sequence[Instance], limit: int, seed: int = 0) -> list[Instance]:
    """A slice with the same number of each reasoning type and query type, over as few histories as that allows.

    Histories are taken whole, one after the other, each time the one that still fills the most places; a memory is
    built once a history, so few histories make a cheap run. Deterministic; the order is that of `instances`.

    Args:
        instances: all of them.
        limit: how many to take; everything when there are not more.
        seed: decides between equally good histories.
    """
    if limit >= len(instances):
        return list(instances)
    places = _places(instances, limit)
    by_history: dict[str, list[int]] = defaultdict(list)
    for k, instance in enumerate(instances):
        by_history[instance.history_id].append(k)
    order = sorted(by_history)
    random.Random(seed).shuffle(order)
    taken: list[int] = []
    while any(places.values()):
        offers = [(_fitting(instances, by_history[name], places), name) for name in order]
        best, name = max(offers, key=lambda offer: len(offer[0]))
        for k in best:
            places[_cell(instances[k])] -= 1
        taken += best
        order.remove(name)
    return [instances[k] for k in sorted(taken)]


def _cell(instance: Instance) -> tuple[str, str]:
    return instance.reasoning_type, instance.query_type


def _places(instances: Sequence[Instance], limit: int) -> dict[tuple[str, str], int]:
    """How many to take of each cell: dealt out one by one, so that small cells give what they have."""
    left: dict[tuple[str, str], int] = defaultdict(int)
    for instance in instances:
        left[_cell(instance)] += 1
    places = dict.fromkeys(sorted(left), 0)
    while limit > 0:
        for cell in places:
            if limit > 0 and places[cell] < left[cell]:
                places[cell] += 1
                limit -= 1
    return places


def _fitting(instances: Sequence[Instance], offered: Iterable[int], places: dict[tuple[str, str], int]) -> list[int]:
    free = dict(places)
    fitting = []
    for k in offered:
        if free[_cell(instances[k])] > 0:
            free[_cell(instances[k])] -= 1
            fitting.append(k)
    return fitting


def _content(name: str) -> tuple[dict[str, History], list[Instance]]:
    if name == "mpt":
        return load_hub()
    path = MINI if name == "mini" else Path(name)
    if path.is_dir():
        for needed in (HISTORIES, INSTANCES):
            if not (path / needed).is_file():
                raise InputError(f"{path} has no {needed}: make one with python -m eval.data.build --out {path}")
        return {record.history.id: record.history for record in read_records(path)}, read_instances(path)
    if path.is_file():
        return load_released(path)
    raise InputError(
        f"no benchmark {name!r}: use mini, mpt, a folder made by eval.data.build, or a file in MPT's format"
    )
