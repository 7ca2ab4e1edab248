"""Interactive benchmarks to compile on: a metric over episodes, demonstrations from their successful steps.

An example is a task, a run an episode, its score the episode's reward. Nobody has written down how an agent should have
thought, so there are no labelled demonstrations: what an LM did in train episodes that earned the whole reward becomes
demonstrations, dev chooses, test is only scored before and after. Agents are given what is remembered of a user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from eval.compiling.episodes_source import EpisodeSource
from eval.compiling.nlsi_scores import mean_figure
from eval.envs.episode import Episode
from eval.envs.play import play
from eval.envs.protocol import Reply
from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.agents import COUNTS
from prefine_dspy.agents.asking import with_briefing
from prefine_dspy.agents.step_agent import StepAgent
from prefine_dspy.errors import InputError
from prefine_dspy.manifest import DataPart, LMPart, Scores, SplitPart
from programs.compilation.episode_parts import PART, graft_agent, part_of
from programs.compilation.estimate import CallSize, Stage, search_metric_calls, tokens
from programs.compilation.job import Job, Settings

FULL_REWARD = 1.0
STEPS = 10
"""Of a typical episode, for estimates; a failing one may take all that its environment allows."""
_FRESH, _WRITTEN, _DEMONSTRATION = 500, 90, 450
"""Tokens of a typical step, for estimates: its history, its answer, one demonstration."""
_LM_CALLS = {"ufold": 2.0, "resum": 1.2}
"""LM calls a step where they are more than one: U-Fold's folds come with every second observation or so."""


@dataclass
class EpisodesTask:
    """Compiling one of the agents.

    Args:
        program: its short name.
        options: of the library's program.
        source: the tasks.
        lm, teacher_lm: see `Job`.
        user_lm: plays the user where no script does.
        settings: of the optimizer.
        max_steps: actions after which an episode is given up; the environment's own number when None.
        check, say: see `watch`.
    """

    program: str
    options: dict[str, Any]
    source: EpisodeSource
    lm: dspy.BaseLM
    teacher_lm: dspy.BaseLM
    user_lm: dspy.BaseLM | None
    settings: Settings
    max_steps: int | None = None
    check: Callable[[], None] = lambda: None
    say: Callable[[str], None] = lambda line: None
    main_figure: str = "reward"
    size_options: str = "--dev-instances or --test-instances"

    def watch(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        """See `Task.watch`."""
        self.check, self.say = check, say

    # -- parts

    def job(self, part: str, program: Any, optimizer: str) -> Job:
        """See `Task.job`."""
        return Job(
            name=part,
            student=part_of(program, self._play),
            pools={},
            train=self._examples("train"),
            dev=self._examples("dev"),
            metric=reward,
            feedback=reward_with_feedback,
            lm=self.lm,
            teacher_lm=self.teacher_lm,
            settings=self.settings,
            threshold=FULL_REWARD,
            check=self.check,
            say=self.say,
        )

    def graft(self, part: str, chosen: dspy.Module, program: Any) -> Any:
        """See `Task.graft`."""
        return graft_agent(chosen, program)

    def calibrate(self, part: str, program: Any) -> None:
        """No agent has a figure to choose."""
        return None

    def _examples(self, split: str) -> tuple[dspy.Example, ...]:
        tasks = self.source.splits[split].tasks
        if split == "train":
            # where nothing is to be changed or said, doing nothing earns the reward: that demonstrates nothing
            tasks = [task for task in tasks if task.gold or task.outputs] or tasks
        return tuple(dspy.Example(task_id=task.id).with_inputs("task_id") for task in tasks)

    def _play(self, agent: StepAgent, task_id: str) -> dspy.Prediction:
        environment = next(
            split.environment
            for split in self.source.splits.values()
            if any(task.id == task_id for task in split.tasks)
        )
        episode = play(environment, agent, task_id, remember=True, max_steps=self.max_steps)
        self.check()
        return dspy.Prediction(reward=episode.reward, episode=episode)

    # -- scores

    def item_scores(self, program: Any, split: str, tick: Callable[[], None] = lambda: None) -> list[float]:
        """One reward a task."""
        rewards = []
        with dspy.context(lm=self.lm):
            for task in self.source.splits[split].tasks:
                rewards.append(float(self._play(program, task.id).reward))
                tick()
        return rewards

    def units(self, split: str) -> tuple[int, str]:
        """See `Task.units`."""
        return len(self.source.splits[split].tasks), "episodes"

    def compare(self, split: str, before: Sequence[Any] | None, after: Sequence[Any] | None) -> Scores:
        """Mean rewards, intervals over tasks."""
        tasks = [task.id for task in self.source.splits[split].tasks]
        both = [new - old for old, new in zip(before, after, strict=True)] if before and after else []
        return Scores(
            before={"reward": mean_figure(before, tasks)} if before else {},
            after={"reward": mean_figure(after, tasks)} if after else {},
            difference={"reward": mean_figure(both, tasks, paired=True)} if both else {},
        )

    def calls_before(self) -> int:
        """See `Task.calls_before`."""
        return self._calls(self._size("dev"))

    def calls_after(self, parts: Sequence[str]) -> int:
        """See `Task.calls_after`."""
        return self._calls(self._size("dev")) + 2 * self._calls(self._size("test"))

    def stages(self, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
        """See `Task.stages`: episodes of `STEPS` steps, with prompts of typical lengths."""
        train, dev, test = (self._size(split) for split in ("train", "dev", "test"))
        before, after = self._call_size(program, 0), self._call_size(program, self.settings.demos)
        runs = search_metric_calls(optimizer, self.settings, train, dev)
        rows = [
            ("score dev, uncompiled", dev, before),
            (f"{PART}: {optimizer}", sum(runs), after),
            ("score dev, compiled", dev, after),
            ("score test, uncompiled", test, before),
            ("score test, compiled", test, after),
        ]
        return [Stage(name, n, self._calls(n), size) for name, n, size in rows if n]

    def _size(self, split: str) -> int:
        return len(self.source.splits[split].tasks)

    def _calls(self, episodes: int) -> int:
        return round(episodes * STEPS * _LM_CALLS.get(self.program, 1.0))

    def _call_size(self, program: Any, demos: int) -> CallSize:
        environment = self.source.splits["train"].environment
        signature = with_briefing(program.act.signature, environment.policy, environment.tools)
        system = CompactAdapter().format_system_message(signature)
        return CallSize(tokens(system) + demos * _DEMONSTRATION, _FRESH, _WRITTEN)

    # -- the manifest

    def metric_names(self, parts: Sequence[str]) -> dict[str, str]:
        """See `Task.metric_names`."""
        return {part: reward.__name__ for part in parts}

    def arguments(self) -> dict[str, Any]:
        """See `Task.arguments`."""
        return {"max_steps": self.max_steps} if self.max_steps is not None else {}

    def data_part(self) -> DataPart:
        """See `Task.data_part`; a split's histories are its tasks."""
        return DataPart(
            name=self.source.name,
            identity=self.source.identity,
            splits={
                name: SplitPart(histories=len(split.tasks), queries=len(split.tasks), identity=split.identity)
                for name, split in self.source.splits.items()
            },
            licence=self.source.licence,
        )

    def lm_parts(self) -> dict[str, LMPart]:
        """See `Task.lm_parts`."""
        lms = {"lm": self.lm, "teacher_lm": self.teacher_lm, "user_lm": self.user_lm}
        return {role: LMPart.of(lm) for role, lm in lms.items() if lm is not None}

    def sizes(self) -> str:
        """See `Task.sizes`."""
        return f"{self.source.name}: {', '.join(f'{name} {self._size(name)} tasks' for name in self.source.splits)}"


def check_optimizer(optimizer: str) -> None:
    """Some optimizers have nothing to work with.

    Raises:
        InputError: it is one of them.
    """
    if optimizer == "labeled":
        raise InputError("episodes have no labelled demonstrations: use --optimizer bootstrap")


def reward(example: dspy.Example, prediction: Any, trace: Any = None) -> float:
    """The episode's reward, between 0 and 1."""
    return float(prediction.reward)


def reward_with_feedback(
    gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> dspy.Prediction:
    """The reward and what went wrong, for GEPA."""
    return dspy.Prediction(score=float(pred.reward), feedback=feedback(pred.episode))


def feedback(episode: Episode) -> str:
    """What an episode shows to somebody who improves the agent's instructions, in a few sentences."""
    said = [f"Reward {episode.reward:g} on the task {episode.task_id!r}; it ended with {episode.termination}."]
    if episode.error:
        said.append(f"The agent could not go on: {episode.error}.")
    done = [str(call) for call in episode.calls(executed=True) if call.name in episode.writes]
    if episode.reward < FULL_REWARD:
        said.append(f"Changes that were right: {'; '.join(map(str, episode.gold)) or 'none'}.")
        said.append(f"Changes that were made: {'; '.join(done) or 'none'}.")
    broken = [rule for step in episode.steps for rule in step.details.get("violations", ())]
    if broken:
        said.append(f"Rules that were broken: {', '.join(dict.fromkeys(broken))}.")
    counts = {name: sum(int(step.notes.get(name, 0)) for step in episode.steps) for name in COUNTS}
    if wrong := [f"{name} {n}" for name, n in counts.items() if n and name in ("unparsed", "refused", "stale")]:
        said.append(f"Answers that could not be used: {', '.join(wrong)}.")
    messages = sum(isinstance(step.action, Reply) for step in episode.steps)
    said.append(f"{len(episode.steps)} steps, {messages} of them messages.")
    return " ".join(said)
