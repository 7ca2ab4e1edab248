"""`load_nlsi`: NLSI from the hub, from files in its record format, and the shipped mini_nlsi.

    data = load_nlsi("mini_nlsi", "test")
    data = load_nlsi("../shared/data/nlsi", "validation", tags="val_instructions_tag_golden.csv")

Sources: NLSI (Moghe et al., 2024), TAPS section 4 (the six reasoning types, 150 / 251 / 2,040 examples).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval.data.files import identity, json_lines, parse_json, read_text
from eval.data.nlsi_catalogue import nlsi_catalogue
from eval.data.nlsi_hub import hub_records
from eval.data.nlsi_record import REASONING_TYPES, NlsiInstance, read_record
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from programs.tag_tables import load_tags

__all__ = ["REASONING_TYPES", "SPLITS", "NlsiData", "NlsiInstance", "balanced", "load_nlsi"]

MINI_NLSI = Path(__file__).parent / "mini_nlsi"
SPLITS = ("train", "validation", "test")
REGENERATED = "NLSI-regenerated"
MANIFEST, TAGS = "manifest.json", "tags.csv"

_FILES = {"train": ("train.jsonl",), "validation": ("validation.jsonl", "val.jsonl"), "test": ("test.jsonl",)}
"""The hub's own file of the second split is called val.jsonl."""


class NlsiData(NamedTuple):
    """One split.

    Args:
        name: what a number on it is said to be about: "NLSI" (the hub's), "NLSI-regenerated", "mini_nlsi", or the
            name of the folder or file; never "NLSI" for a file.
        split: "train", "validation" or "test".
        instances: in the order of the file.
        tools: the catalogue.
        tags: gold tags in bracket form, by instruction; empty when none were given.
        identity: sha256 over the instances.
    """

    name: str
    split: str
    instances: list[NlsiInstance]
    tools: Catalogue
    tags: dict[str, str]
    identity: str


def load_nlsi(data: str | Path, split: str, tags: str | Path | None = None) -> NlsiData:
    """Loads one split.

    What a folder or file is called: the `name` of the manifest.json beside it if there is one; "NLSI-regenerated" if
    its records are of the rebuilt layout (an `instruction_src` in the instructions or a `source_label` in the metadata,
    which the published files do not have); else the folder's or file's own name.

    Args:
        data: "nlsi" (Hugging Face nikitam/nlsi), "mini_nlsi", a folder with train.jsonl, validation.jsonl (or
            val.jsonl) and test.jsonl, or one such file.
        split: "train", "validation" or "test"; a file of another name than these is taken for any of them.
        tags: a CSV of gold tags (columns org, aug); without it the folder's tags.csv if it has one.

    Raises:
        InputError: it is not there or cannot be read; names the file, the line and the key.
    """
    if split not in SPLITS:
        raise InputError(f"no split {split!r}: use {', '.join(SPLITS)}")
    if str(data) == "nlsi":
        instances = _instances(hub_records(split))
        name, beside = "NLSI", None
    else:
        file = _file(str(data), split)
        records = list(json_lines(file))
        if not records:
            raise InputError(f"{file} holds no record: give a file in NLSI's format, one JSON object a line")
        instances = _instances(iter(records))
        name, beside = _name(file, Path(data), [value for _, value in records]), file.parent / TAGS
    found = tags if tags is not None else beside if beside is not None and beside.is_file() else None
    return NlsiData(
        name=name,
        split=split,
        instances=instances,
        tools=nlsi_catalogue(),
        tags={} if found is None else load_tags(found),
        identity=identity(instances),
    )


def balanced(instances: Sequence[NlsiInstance], limit: int, seed: int = 0) -> list[NlsiInstance]:
    """A sample with the same number of each reasoning type, as far as a type has so many.

    The types take turns, each over its instances in an order drawn with the seed. So a smaller sample is the beginning
    of a larger one with the same seed, and what is missing of a rare type is filled up by the others.

    Args:
        instances: all of them.
        limit: how many to take; all, in that order, when there are not more.
        seed: same seed, same sample.

    Raises:
        InputError: a negative limit.
    """
    if limit < 0:
        raise InputError(f"limit must not be negative, found {limit}: give a number of instances")
    queues: list[list[NlsiInstance]] = []
    for kind in REASONING_TYPES:
        queue = [instance for instance in instances if instance.reasoning_type == kind]
        random.Random(f"{seed} {kind}").shuffle(queue)
        queues.append(queue)
    longest = max(map(len, queues), default=0)
    drawn = [queue[k] for k in range(longest) for queue in queues if k < len(queue)]
    return drawn[:limit]


def _file(name: str, split: str) -> Path:
    path = MINI_NLSI if name == "mini_nlsi" else Path(name)
    if path.is_dir():
        for candidate in _FILES[split]:
            if (path / candidate).is_file():
                return path / candidate
        raise InputError(f"{path} has no {_FILES[split][0]}: give a folder with train, validation and test.jsonl")
    if not path.is_file():
        raise InputError(f"no data {name!r}: use nlsi, mini_nlsi, a folder with NLSI's JSONL files, or one such file")
    for other, files in _FILES.items():
        if other != split and path.name in files:
            raise InputError(f"{path} is the {other} split: ask for split {other}")
    return path


def _instances(records: Iterator[tuple[str, Any]]) -> list[NlsiInstance]:
    """The records, read. A row that is repeated word by word, as some are in validation, gets an id of its own."""
    instances: list[NlsiInstance] = []
    first: dict[str, NlsiInstance] = {}
    copies: dict[str, int] = {}
    for where, value in records:
        instance = read_record(where, value)
        try:
            instance.model_dump_json()
        except ValueError:
            raise InputError(
                f"{where}: holds half a character (a lone surrogate, \\ud800 to \\udfff): correct the file"
            ) from None
        if instance.id in first:
            if instance != first[instance.id]:
                raise InputError(f"{where}: example_id {instance.id!r} is there more than once: remove one of them")
            copies[instance.id] = copies.get(instance.id, 1) + 1
            instances.append(instance.model_copy(update={"id": f"{instance.id}#{copies[instance.id]}"}))
        else:
            first[instance.id] = instance
            instances.append(instance)
    return instances


def _name(file: Path, given: Path, records: list[Any]) -> str:
    if (file.parent / MANIFEST).is_file():
        manifest = parse_json(read_text(file.parent / MANIFEST), file.parent / MANIFEST)
        name = manifest.get("name") if isinstance(manifest, dict) else None
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{file.parent / MANIFEST}: key 'name' must be the name of the data set")
    elif any(map(_rebuilt, records)):
        name = REGENERATED
    else:
        name = given.resolve().name if given.is_dir() else file.stem
    # only the hub's files may be quoted under that name
    return "nlsi-files" if name.strip().casefold() == "nlsi" else name


def _rebuilt(record: dict[str, Any]) -> bool:
    instructions = record["all_standing_instructions"]
    return "source_label" in (record.get("metadata") or {}) or any("instruction_src" in one for one in instructions)
