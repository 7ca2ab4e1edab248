"""One episode as items.jsonl keeps it: what it came to, not what was said (that is in transcripts.jsonl)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.envs.episode import Episode
from eval.envs.protocol import EnvTask
from eval.failures import Failure
from eval.metrics.episode_errors import ErrorLabels, error_labels
from eval.metrics.episode_figures import EpisodeFigures, figures_of
from eval.metrics.episodes import Outcome
from eval.tasks.task import Record

STATUSES = ("ok", "wrong", "parse_error", "lm_error")
"""ok: the full reward; wrong: less; parse_error: an answer that cannot be used ended it; lm_error: the agent's LM, the
user's or a judge's, or the environment, gave no answer."""
_NOT_OF_THE_END = ("asked", "violations")  # details of single steps; their sums are elsewhere


def record_of(
    system: str, environment: str, task: EnvTask, trial: int, episode: Episode | None, failure: Failure | None
) -> Record:
    """What items.jsonl holds of one episode between its id and its usage.

    Args:
        system: the program's registered name.
        environment: as its episodes are called, where there is none to say it.
        task, trial: what was played.
        episode: None when none came about; it then counts as one without reward.
        failure: why none came about.
    """
    figures = figures_of(episode) if episode is not None else EpisodeFigures(0.0, False)
    labels = error_labels(episode) if episode is not None else ErrorLabels(None, None, None)
    steps = episode.steps if episode is not None else ()
    return {
        "system": system,
        "environment": episode.environment if episode is not None else environment,
        "task": task.id,
        "trial": trial,
        "group": task.group,
        "status": _status(episode, figures, failure),
        "reward": figures.reward,
        "success": figures.success,
        "termination": episode.termination if episode is not None else None,
        "agent_error": episode.error if episode is not None else "",
        "figures": {
            **figures._asdict(),
            "prompt_tokens_per_call": figures.prompt_tokens_per_call,
            "tokens_per_turn": figures.tokens_per_turn,
        },
        "error_labels": labels._asdict(),
        "violations": [str(rule) for step in steps for rule in step.details.get("violations") or ()],
        "details": {key: value for key, value in steps[-1].details.items() if key not in _NOT_OF_THE_END}
        if steps
        else {},
        "notes": notes_of(episode) if episode is not None else {},
        "remembered": episode is not None and episode.remembered,
        "prompt_tokens": prompt_tokens(episode) if episode is not None else [],
    }


def notes_of(episode: Episode) -> dict[str, float]:
    """The numbers that the agent noted, summed over the steps, by name; texts and truth values are left out."""
    sums: dict[str, float] = {}
    for step in episode.steps:
        for name, value in step.notes.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                sums[name] = sums.get(name, 0) + value
    return sums


def prompt_tokens(episode: Episode) -> list[float | None]:
    """By step, the prompt tokens of an LM call of the agent; None where there was no call or no count."""
    return [
        round(used.input_tokens / used.lm_calls, 2) if used and used.lm_calls and used.input_tokens else None
        for used in (step.agent for step in episode.steps)
    ]


def outcome_in(item: Mapping[str, Any]) -> Outcome:
    """The outcome as it was written down."""
    figures = EpisodeFigures(**{name: item["figures"][name] for name in EpisodeFigures._fields})
    labels = ErrorLabels(**{name: item["error_labels"][name] for name in ErrorLabels._fields})
    return Outcome(
        item["environment"], item["task"], item["trial"], item["group"], item["termination"] or "", figures, labels
    )


def _status(episode: Episode | None, figures: EpisodeFigures, failure: Failure | None) -> str:
    if failure is not None:
        return failure.status
    if episode is not None and episode.failed:
        return episode.failed
    return "ok" if figures.success else "wrong"
