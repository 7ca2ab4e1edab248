"""Which benchmark a `--data` belongs to, and what is known about each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from eval.data.files import HISTORIES
from eval.envs.load import FAMILIES, NAMES
from eval.tasks import episodes, mpt, nlsi
from eval.tasks.task import Presentation, Slice
from prefine_dspy.errors import InputError


class Kind(NamedTuple):
    """Args:
    title: as the papers write it.
    own_data: the name of the data set that ships with the project.
    load: data, limit, seed and `settings` -> the chosen instances.
    settings: options of `eval.run` that say which part of this data is wanted, with their defaults.
    other_lms: options of `eval.run` that name LMs beside `--lm`.
    presentation: how its results are shown.
    splits: values of `--split`.
    """

    title: str
    own_data: str
    load: Callable[..., Slice]
    settings: dict[str, Any]
    other_lms: tuple[str, ...]
    presentation: Presentation
    splits: tuple[str, ...] = ()

    @property
    def options(self) -> set[str]:
        """The options of `eval.run` that only some benchmarks have and that this one has."""
        return {*self.settings, *self.other_lms}


KINDS = {
    "mpt": Kind("MPT", "mini", mpt.load, {"query": "both", "schema": "base"}, ("memory_lm",), mpt.PRESENTATION),
    "nlsi": Kind(
        "NLSI", "mini_nlsi", nlsi.load, {"split": "test"}, (), nlsi.PRESENTATION, ("train", "validation", "test")
    ),
    "episodes": Kind(
        "episodes",
        "builtin",
        episodes.load,
        {"split": None, "trials": 1, "max_steps": None},
        ("user_lm", "judge_lm"),
        episodes.PRESENTATION,
        ("train", "dev", "test"),
    ),
}

_BY_NAME = {"mini": "mpt", "mpt": "mpt", "mini_nlsi": "nlsi", "nlsi": "nlsi"}
_NLSI_FILES = ("train.jsonl", "validation.jsonl", "val.jsonl", "test.jsonl")
_NLSI_KEY = "user_utterance"


def kind_of(data: str) -> str:
    """The benchmark that a `--data` belongs to: a key of `KINDS`.

    "mini" and "mpt" are MPT's, "mini_nlsi" and "nlsi" NLSI's, names of environments ("builtin", "tau:airline") are
    episodes. A folder is NLSI's when it holds one of its splits
    (train.jsonl, validation.jsonl, val.jsonl, test.jsonl) and no histories.jsonl, a file when the first of its lines is
    an object with the key "user_utterance". All others are MPT's, whose loader says what is wrong with them.

    Raises:
        InputError: there is nothing of that name.
    """
    if data in _BY_NAME:
        return _BY_NAME[data]
    if data.partition(":")[0] in FAMILIES:
        return "episodes"
    path = Path(data)
    if path.is_dir():
        splits = any((path / name).is_file() for name in _NLSI_FILES)
        return "nlsi" if splits and not (path / HISTORIES).is_file() else "mpt"
    if path.is_file():
        return "nlsi" if _NLSI_KEY in _first_object(path) else "mpt"
    raise InputError(
        f"no data {data!r}: use {', '.join(_BY_NAME)}, {NAMES}, a folder made by eval.data.build or with NLSI's "
        "splits, or a file in MPT's or NLSI's format"
    )


def _first_object(path: Path) -> dict[str, Any]:
    """The object in the first line that is not blank; {} when it is none."""
    try:
        with open(path, "rb") as file:  # only this line is decoded: a bad byte elsewhere is the reader's to name
            found = json.loads(next((line for line in file if line.strip()), b"").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
