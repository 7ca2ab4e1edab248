"""The tasks of an interactive benchmark as a compilation uses them: three splits, each with its environment."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import dspy

from eval.compiling.nlsi_source import sha256_of
from eval.envs.load import FAMILIES, lms_of, load_environment, with_split
from eval.envs.protocol import Environment, EnvTask
from prefine_dspy.errors import InputError

SPLITS = ("train", "dev", "test")
LICENCES = {"builtin": "Apache-2.0", "tau": "MIT"}


class EpisodeSplit(NamedTuple):
    """Args:
    environment: offers its tasks; not for use by two threads at once.
    tasks: those that are used, in the environment's order.
    """

    environment: Environment
    tasks: Sequence[EnvTask]

    @property
    def identity(self) -> str:
        return sha256_of(task.id for task in self.tasks)


class EpisodeSource(NamedTuple):
    """Args:
    name: as `--data` names it.
    splits: "train", "dev", "test".
    """

    name: str
    splits: dict[str, EpisodeSplit]

    @property
    def identity(self) -> str:
        """A hash over the tasks of all splits, their gold calls included."""
        return sha256_of(task.model_dump_json() for split in self.splits.values() for task in split.tasks)

    @property
    def licence(self) -> str:
        """Of the texts that demonstrations show."""
        return LICENCES.get(self.name.partition(":")[0], "")


def load_source(
    data: str, sizes: dict[str, int | None], seed: int, user_lm: dspy.BaseLM | None = None
) -> EpisodeSource:
    """A benchmark's own splits, cut down to samples.

    Args:
        data: an environment with splits, as `load_environment` names it.
        sizes: tasks of a split at most; all when None or absent.
        seed: of the samples.
        user_lm: plays the user where no script does.

    Raises:
        InputError: there is no such environment, it has no splits, or it needs an LM that plays the user.
    """
    if "user_lm" in lms_of(data) and user_lm is None:
        raise InputError(f"an LM plays the user of {data}: name it with --user-lm")
    splits = {}
    for name in SPLITS:
        environment = load_environment(with_split(data, name), user_lm)
        splits[name] = EpisodeSplit(environment, _sample(environment.tasks, sizes.get(name), seed))
    return EpisodeSource(data, splits)


def _sample(tasks: Sequence[EnvTask], size: int | None, seed: int) -> list[EnvTask]:
    if size is None or size >= len(tasks):
        return list(tasks)
    chosen = set(random.Random(seed).sample(range(len(tasks)), size))
    return [task for at, task in enumerate(tasks) if at in chosen]


def is_public(data: str) -> bool:
    """Whether the tasks are published or our own: demonstrations show them. All benchmarks' are."""
    return data.partition(":")[0] in FAMILIES
