"""An agent as a program of its own: an example is a task, a run of it an episode.

Predictors have the names that they have in the agent, below "agent" ("agent.act").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dspy

from prefine_dspy.agents.step_agent import StepAgent
from programs.compilation.parts import graft

PART = "agent"
"""The only part: whether a step was any good shows at the end of its episode, and no step has a score of its own."""


class EpisodePart(dspy.Module):
    """Plays one task.

    Args:
        agent: the agent.
        play: an agent and a task's id -> prediction with at least `reward`; shared by copies.
    """

    def __init__(self, agent: StepAgent, play: Callable[[StepAgent, str], dspy.Prediction]) -> None:
        super().__init__()
        self.agent = agent
        self._play = Shared(play)

    def forward(self, task_id: str) -> dspy.Prediction:
        """The prediction of `play`."""
        return self._play.call(self.agent, task_id)


class Shared:
    """Something that copies of a module share: an environment is no part of a program."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call

    def __deepcopy__(self, memo: Any) -> Shared:
        return self


def part_of(program: StepAgent, play: Callable[[StepAgent, str], dspy.Prediction]) -> EpisodePart:
    """A copy of an agent, ready for an optimizer."""
    return EpisodePart(program.deepcopy(), play)


def graft_agent(part: Any, program: StepAgent) -> StepAgent:
    """A copy of the agent with the demonstrations and instructions of a compiled part."""
    agent: StepAgent = graft(part.agent, program)
    return agent
