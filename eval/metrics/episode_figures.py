"""What one episode came to: its reward, its length and cost, and the figures of benchmarks that grade in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from eval.envs.aspects import ASPECT_POINTS, score
from eval.envs.episode import Episode
from eval.envs.protocol import Reply
from eval.envs.spent import together
from prefine_dspy.types import ToolCall

_SUCCESS = 1 - 1e-6
"""tau-bench's own tolerance."""


class EpisodeFigures(NamedTuple):
    """One episode.

    Args:
        reward: between 0 and 1.
        success: the full reward.
        turns: the user's opening, and one for each reply to them; like all that follows None where no episode came
            about.
        steps: actions of the agent.
        tool_calls, failed_calls: its calls, and those that an error answered.
        asked: slots that it asked the user for; None where the environment does not say.
        lm_calls, input_tokens, output_tokens: of the agent alone; None when not measured.
        user_lm_calls, judge_lm_calls: of an LM that plays the user, and of a judge; None when not measured.
        score, cer, ber: UserBench: points, share of aspects with a right option, with the best one.
        active_pe, passive_pe: UserBench: share of the preferences that the agent's questions drew out, and of those
            that the user came up with.
        rubrics: VitaBench: share of the rubrics met.
    """

    reward: float
    success: bool
    turns: int | None = None
    steps: int | None = None
    tool_calls: int | None = None
    failed_calls: int | None = None
    asked: int | None = None
    lm_calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    user_lm_calls: int | None = None
    judge_lm_calls: int | None = None
    score: float | None = None
    cer: float | None = None
    ber: float | None = None
    active_pe: float | None = None
    passive_pe: float | None = None
    rubrics: float | None = None

    @property
    def tokens_per_turn(self) -> float | None:
        """The agent's prompt and answer tokens for each turn (IDSS section 4.5)."""
        if not self.input_tokens or self.output_tokens is None or not self.turns:
            return None
        return (self.input_tokens + self.output_tokens) / self.turns

    @property
    def prompt_tokens_per_call(self) -> float | None:
        """Prompt tokens of an LM call of the agent; None when it made none, or its LM does not count."""
        return self.input_tokens / self.lm_calls if self.lm_calls and self.input_tokens else None


def figures_of(episode: Episode) -> EpisodeFigures:
    """The figures of an episode; what its environment does not report is None."""
    calls = [step for step in episode.steps if isinstance(step.action, ToolCall)]
    used = [*(step.agent for step in episode.steps), *([episode.lost] if episode.lost is not None else [])]
    measured = [one for one in used if one is not None]
    known = bool(measured) and len(measured) == len(used)
    others, judged = _environment_lm_calls(episode), together(step.judge for step in episode.steps).lm_calls
    return EpisodeFigures(
        reward=episode.reward,
        success=episode.reward >= _SUCCESS,
        turns=1 + sum(isinstance(step.action, Reply) for step in episode.steps),
        steps=len(episode.steps),
        tool_calls=len(calls),
        failed_calls=sum(step.observation is not None and step.observation.error for step in calls),
        asked=_asked(episode),
        lm_calls=sum(one.lm_calls for one in measured) if known else None,
        input_tokens=sum(one.input_tokens for one in measured) if known else None,
        output_tokens=sum(one.output_tokens for one in measured) if known else None,
        user_lm_calls=None if others is None else others - judged,
        judge_lm_calls=None if others is None else judged,
        **_parts(episode),
    )


def _environment_lm_calls(episode: Episode) -> int | None:
    """LM calls that were not the agent's."""
    parts = [episode.opened, *(step.environment for step in episode.steps)]
    return None if any(one is None for one in parts) else together(parts).lm_calls


def _asked(episode: Episode) -> int | None:
    found = [step.details["asked"] for step in episode.steps if "asked" in step.details]
    return sum(len(one) for one in found) if found else None


def _parts(episode: Episode) -> dict[str, float]:
    """Figures from the last step that states them."""
    found: dict[str, float] = {}
    if aspects := _last(episode, "aspects"):
        grades = list(aspects.values())
        found["score"] = score(aspects)
        found["cer"] = sum(grade in ASPECT_POINTS for grade in grades) / len(grades)
        found["ber"] = sum(grade == "best" for grade in grades) / len(grades)
    preferences = _last(episode, "preferences")
    if preferences and preferences.get("total"):
        found["active_pe"] = preferences["active"] / preferences["total"]
        found["passive_pe"] = preferences["passive"] / preferences["total"]
    rubrics = _last(episode, "rubrics")
    if rubrics and rubrics.get("total"):
        found["rubrics"] = rubrics["met"] / rubrics["total"]
    return found


def _last(episode: Episode, key: str) -> Mapping[str, Any] | None:
    return next((step.details[key] for step in reversed(episode.steps) if key in step.details), None)
