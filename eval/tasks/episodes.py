"""Interactive benchmarks: episodes of an agent in an environment, several trials a task; one phase, grouped by task."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import dspy

from eval.envs.load import lms_of, load_environment, with_split
from eval.envs.play import play
from eval.envs.protocol import Environment, EnvTask
from eval.items import ItemGroup, ItemRunner
from eval.journal import Journal
from eval.run_config import SCHEMA_VERSION, identity_of
from eval.run_folder import RunFolder
from eval.tasks.attempt import Attempt, RunGuard
from eval.tasks.episodes_markdown import brief_text, report_text
from eval.tasks.episodes_plots import draw
from eval.tasks.episodes_record import record_of
from eval.tasks.episodes_tables import score_rows, summarise
from eval.tasks.task import Phase, Presentation, Record, Slice, Summary
from programs.episode_system import EpisodeSystem

PRESENTATION = Presentation(summarise, brief_text, report_text, score_rows, draw)


class Trial(NamedTuple):
    """One episode to be played.

    Args:
        task: of the environment.
        number: which repetition, from 0.
    """

    task: EnvTask
    number: int

    @property
    def id(self) -> str:
        """As `Episode.id`."""
        return f"{self.task.id}/{self.number}"


def load(data: str, limit: int | None, seed: int, *, split: str | None, trials: int, max_steps: int | None) -> Slice:
    """The wanted tasks of an environment.

    Args:
        data: as `load_environment` takes it.
        limit: tasks at most, balanced over their groups; None for all.
        seed: of that choice.
        split: "train", "dev" or "test"; None for what the environment offers without one.
        trials: episodes a task.
        max_steps: actions after which an episode is given up; the environment's own number when None.

    Raises:
        InputError: there is no such environment or split, or its benchmark is not installed.
    """
    name = with_split(data, split)
    environment = load_environment(name)
    tasks = choose(environment.tasks, limit, seed)
    played = [Trial(task, number) for task in tasks for number in range(trials)]
    config = {
        "data": data,
        "data_identity": _identity(environment),
        "split": split,
        "trials": trials,
        "max_steps": max_steps,
        "instances": len(played),
        "instances_identity": identity_of([one.id for one in played]),
    }
    called = environment.name
    environment.close()

    def task(
        systems: dict[str, EpisodeSystem],
        lm: dspy.BaseLM,
        memory_lm: dspy.BaseLM,
        user_lm: dspy.BaseLM | None = None,
        judge_lm: dspy.BaseLM | None = None,
    ) -> EpisodesTask:
        return EpisodesTask(systems, Environments(name, called, user_lm, judge_lm), played, lm, max_steps)

    return Slice(config, task, lms_of(name))


def choose(tasks: Sequence[EnvTask], limit: int | None, seed: int) -> list[EnvTask]:
    """At most `limit` tasks, in their order; groups of tasks take turns, so that none is left out while another has
    two more. A smaller choice is part of a larger one with the same seed."""
    if limit is None or limit >= len(tasks):
        return list(tasks)
    queues: dict[str, list[EnvTask]] = {}
    for one in tasks:
        queues.setdefault(one.group, []).append(one)
    for group, queue in queues.items():
        random.Random(f"{seed} {group}").shuffle(queue)
    longest = max(map(len, queues.values()))
    drawn = [queue[turn] for turn in range(longest) for queue in queues.values() if turn < len(queue)][:limit]
    taken = {one.id for one in drawn}
    return [one for one in tasks if one.id in taken]


def _identity(environment: Environment) -> str:
    """A short hash over what an agent meets there."""
    parts = [
        environment.policy,
        environment.tools.prompt_text(),
        getattr(environment, "version", ""),
        *(task.model_dump_json() for task in environment.tasks),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@dataclass
class Environments:
    """Environments of one name: one for each episode that is under way, used again by the next one.

    Args:
        name: as `load_environment` takes it.
        called: as environments of that name call themselves ("builtin:test" is "builtin"), and so do their episodes.
        user_lm, judge_lm: see `load_environment`.
    """

    name: str
    called: str
    user_lm: dspy.BaseLM | None = None
    judge_lm: dspy.BaseLM | None = None
    _free: list[Environment] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def one(self) -> Iterator[Environment]:
        """An environment that nobody else uses meanwhile. After an exception it is given up: its state is unknown."""
        with self._guard:
            environment = self._free.pop() if self._free else None
        if environment is None:
            environment = load_environment(self.name, self.user_lm, self.judge_lm)
        try:
            yield environment
        except BaseException:
            environment.close()
            raise
        with self._guard:
            self._free.append(environment)


@dataclass(frozen=True)
class EpisodesTask:
    """A run's work on episodes.

    Args:
        systems: by label, in order.
        environments: where they are played.
        played: the chosen tasks' trials, those of a task one after the other.
        lm: the agents' LM.
        max_steps: see `load`.
    """

    systems: dict[str, EpisodeSystem]
    environments: Environments
    played: Sequence[Trial]
    lm: dspy.BaseLM
    max_steps: int | None = None

    def phases(self, folder: RunFolder, guard: RunGuard) -> Iterator[Phase]:
        """Episodes only. An episode that was under way when a process died is played again; what its LMs answered
        meanwhile comes from the run's cache."""

        def record(group: ItemGroup, trial: Trial, attempt: Attempt[dspy.Prediction]) -> Record:
            return self._record(folder.transcripts, group, trial, attempt)

        items = ItemRunner(folder.items, self.lm, guard, self._ask, record)
        items.restore()
        _keep(folder.transcripts, items.done)
        yield items.phase(self._groups())._replace(name="episodes", unit="episodes")

    def summary(self, folder: RunFolder) -> Summary:
        """What `episodes_tables` makes of the items. Transcripts of episodes that a worker on a cluster died of, and
        another one played, go."""
        items = folder.items.read()
        _keep(folder.transcripts, {(one["program"], one["id"]) for one in items})
        return summarise(items)

    def _groups(self) -> list[ItemGroup]:
        """By program and task: the trials of one task ask nearly the same."""
        grouped: dict[str, list[Trial]] = {}
        for one in self.played:
            grouped.setdefault(one.task.id, []).append(one)
        return [
            ItemGroup(label, system, trials) for label, system in self.systems.items() for trials in grouped.values()
        ]

    def _ask(self, group: ItemGroup, trial: Trial) -> dspy.Prediction:
        with self.environments.one() as environment:
            episode = play(
                environment,
                group.system,
                trial.task.id,
                trial=trial.number,
                remember=True,
                max_steps=self.max_steps,
            )
        return dspy.Prediction(episode=episode)

    def _record(
        self, transcripts: Journal, group: ItemGroup, trial: Trial, attempt: Attempt[dspy.Prediction]
    ) -> Record:
        """The item's part that is about the episode. Its transcript is written first: an item on disk has one."""
        episode = attempt.answer.episode if attempt.answer is not None else None
        if episode is not None:
            transcripts.append(
                {
                    "v": SCHEMA_VERSION,
                    "program": group.label,
                    "id": trial.id,
                    "episode": episode.model_dump(mode="json", fallback=str),
                }
            )
        return record_of(
            group.system.name, self.environments.called, trial.task, trial.number, episode, attempt.failure
        )


def _keep(transcripts: Journal, done: set[tuple[str, str]]) -> None:
    """Leave out transcripts of episodes that are played again, and of those that a killed process wrote twice."""
    lines = transcripts.read()
    kept = {(one["program"], one["id"]): one for one in lines if (one["program"], one["id"]) in done}
    if len(kept) < len(lines):
        transcripts.replace(kept.values())
