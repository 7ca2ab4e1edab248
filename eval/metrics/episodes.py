"""Figures over the episodes of a run: Avg@k, pass^k, parts, lengths, costs and error labels, with intervals over tasks.

Trials of one task are not independent, so whole tasks are resampled. Every figure is the mean over tasks of a task's
mean over its trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import comb
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from eval.envs.episode import Episode
from eval.metrics.episode_errors import ErrorLabels, error_labels
from eval.metrics.episode_figures import EpisodeFigures, figures_of
from eval.metrics.statistics import LEVEL, RESAMPLES, Array, Difference, Interval

TaskKey = tuple[str, str]


class Outcome(NamedTuple):
    """What an episode is worth to the figures of its run.

    Args:
        environment, task_id, trial, group: which task, which repetition, what kind of task.
        termination: how it ended; "" where no episode came about.
        figures, errors: its own.
    """

    environment: str
    task_id: str
    trial: int
    group: str
    termination: str
    figures: EpisodeFigures
    errors: ErrorLabels


def outcome_of(episode: Episode) -> Outcome:
    """The outcome of an episode."""
    return Outcome(
        episode.environment,
        episode.task_id,
        episode.trial,
        episode.group,
        episode.termination,
        figures_of(episode),
        error_labels(episode),
    )


class EpisodeSummary(NamedTuple):
    """A run of one program on one environment.

    Args:
        episodes: how many; `tasks` and `trials` (the smallest number of a task) say how they are spread.
        average: Avg@k with k = the trials there are: the mean reward.
        pass_hat: by k, the chance that k trials of a task all succeed (tau-bench's pass^k), for k up to `trials`.
        pass_any: by k, the chance that one of k trials succeeds (pass@k, which VitaBench reports).
        means: by name, means of `EpisodeFigures` (turns, tool_calls, score, rubrics, tokens_per_turn, ...); what no
            episode reports is left out.
        errors: by label, the share of all episodes that have it; labels that cannot be told are left out.
        groups: by group of tasks, Avg@k.
        terminations: how episodes ended.
    """

    episodes: int
    tasks: int
    trials: int
    average: Interval
    pass_hat: dict[int, Interval]
    pass_any: dict[int, Interval]
    means: dict[str, Interval]
    errors: dict[str, Interval]
    groups: dict[str, Interval]
    terminations: dict[str, int]


MEANS: dict[str, Callable[[EpisodeFigures], float | int | None]] = {
    name: attrgetter(name)
    for name in (
        *("turns", "steps", "tool_calls", "failed_calls", "asked", "lm_calls", "user_lm_calls", "judge_lm_calls"),
        *("input_tokens", "output_tokens", "tokens_per_turn", "prompt_tokens_per_call"),
        *("score", "cer", "ber", "active_pe", "passive_pe", "rubrics"),
    )
}
"""Figures that are averaged, by name."""


def summary(outcomes: Iterable[Outcome], *, seed: int = 0) -> EpisodeSummary:
    """All figures of a run; outcomes may come in any order.

    Args:
        seed: the same seed gives the same intervals.
    """
    tasks = by_task(outcomes)
    figures = {key: [one.figures for one in trials] for key, trials in tasks.items()}
    fewest = min((len(trials) for trials in tasks.values()), default=0)
    counts = [(len(one), sum(each.success for each in one)) for one in figures.values()]

    def interval(values: Sequence[float]) -> Interval:
        return task_interval(values, seed=seed)

    return EpisodeSummary(
        episodes=sum(len(trials) for trials in tasks.values()),
        tasks=len(tasks),
        trials=fewest,
        average=interval([_mean([one.reward for one in trials]) for trials in figures.values()]),
        pass_hat={k: interval([pass_hat(n, c, k) for n, c in counts]) for k in range(1, fewest + 1)},
        pass_any={k: interval([pass_any(n, c, k) for n, c in counts]) for k in range(1, fewest + 1)},
        means={
            name: interval(values)
            for name, read in MEANS.items()
            if (values := _task_means([[read(one) for one in trials] for trials in figures.values()]))
        },
        errors=_errors(tasks, interval),
        groups=_groups(tasks, interval),
        terminations=dict(Counter(one.termination for trials in tasks.values() for one in trials if one.termination)),
    )


def by_task(outcomes: Iterable[Outcome]) -> dict[TaskKey, list[Outcome]]:
    """Outcomes by environment and task, each task's trials in order.

    Raises:
        ValueError: a trial is there twice.
    """
    found: dict[TaskKey, dict[int, Outcome]] = {}
    for one in outcomes:
        trials = found.setdefault((one.environment, one.task_id), {})
        if one.trial in trials:
            raise ValueError(f"{one.environment} {one.task_id}/{one.trial} is there twice")
        trials[one.trial] = one
    return {key: [trials[number] for number in sorted(trials)] for key, trials in found.items()}


def pass_hat(n: int, c: int, k: int) -> float:
    """pass^k of one task: the unbiased estimate C(c,k)/C(n,k) of the chance that k trials all succeed.

    Args:
        n: trials made.
        c: of these, successes.
        k: at least 1, at most n.

    Raises:
        ValueError: k is outside of that.
    """
    if not 1 <= k <= n:
        raise ValueError(f"pass^{k} needs at least {max(k, 1)} trials of every task; there are {n}")
    return comb(c, k) / comb(n, k)


def pass_any(n: int, c: int, k: int) -> float:
    """pass@k of one task: the unbiased estimate of the chance that one of k trials succeeds. As `pass_hat`."""
    return 1.0 - pass_hat(n, n - c, k)


def task_interval(values: Sequence[float], *, seed: int = 0) -> Interval:
    """The mean of one value a task with its percentile bootstrap interval; any unit. All nil without tasks."""
    given = np.asarray(values, dtype=float)
    if not len(given):
        return Interval(0.0, 0.0, 0.0, 0, 0)
    low, high = np.quantile(_resampled(given, seed), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(given.mean()), float(low), float(high), len(given), len(given))


def task_difference(
    a: Iterable[Outcome],
    b: Iterable[Outcome],
    read: Callable[[EpisodeFigures], float | int | None] = lambda figures: figures.reward,
    *,
    seed: int = 0,
) -> Difference:
    """a - b of a figure's mean, on the tasks that both have: how an ablation compares.

    Args:
        a, b: two runs.
        read: the figure, e.g. `MEANS["asked"]`; tasks where one side has none are left out.
    """
    sides = [
        {key: value for key, trials in by_task(side).items() if (value := _known_mean(trials, read)) is not None}
        for side in (a, b)
    ]
    both = [key for key in sides[0] if key in sides[1]]
    gaps = np.asarray([sides[0][key] - sides[1][key] for key in both], dtype=float)
    if not len(gaps):
        return Difference(0.0, 0.0, 0.0, 1.0, 0, 0)
    drawn = _resampled(gaps, seed)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    p = min(1.0, 2 * float(min(np.mean(drawn <= 0), np.mean(drawn >= 0))))
    return Difference(float(gaps.mean()), float(low), float(high), p, len(gaps), len(gaps))


def _resampled(values: Array, seed: int) -> Array:
    return _weights(len(values), seed) @ values / len(values)


@lru_cache(maxsize=8)
def _weights(n: int, seed: int) -> Array:
    """How often each of n tasks is drawn, in each resample: (resample, task)."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _known_mean(trials: Sequence[Outcome], read: Callable[[EpisodeFigures], float | int | None]) -> float | None:
    known = [value for one in trials if (value := read(one.figures)) is not None]
    return _mean(known) if known else None


def _task_means(tasks: Iterable[Sequence[float | int | bool | None]]) -> list[float]:
    """One mean a task over the trials that report the figure; tasks without any are left out."""
    known = [[float(value) for value in trials if value is not None] for trials in tasks]
    return [_mean(one) for one in known if one]


def _errors(
    tasks: Mapping[TaskKey, Sequence[Outcome]], interval: Callable[[Sequence[float]], Interval]
) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    for name in ErrorLabels._fields:
        told = [[getattr(one.errors, name) for one in trials] for trials in tasks.values()]
        # successes have no label in any environment: only a failure says whether one can be told
        if any(
            getattr(one.errors, name) is not None
            for trials in tasks.values()
            for one in trials
            if not one.figures.success
        ):
            found[name] = interval([_mean([float(bool(value)) for value in row]) for row in told])
    return found


def _groups(
    tasks: Mapping[TaskKey, Sequence[Outcome]], interval: Callable[[Sequence[float]], Interval]
) -> dict[str, Interval]:
    rewards: dict[str, list[float]] = {}
    for trials in tasks.values():
        if trials[0].group:
            rewards.setdefault(trials[0].group, []).append(_mean([one.figures.reward for one in trials]))
    return {group: interval(values) for group, values in rewards.items()}
