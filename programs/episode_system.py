"""What the runner asks of a system on interactive benchmarks.

A system is an `Agent` of `prefine_dspy.agents.protocol`, which `eval.envs.play` drives.
"""

from __future__ import annotations

from typing import Protocol

import dspy

from prefine_dspy.agents import Act, Briefing
from prefine_dspy.agents.step_agent import StepAgent


class EpisodeSystem(Protocol):
    """A program that acts: it is briefed, then every observation leads to one action.

    `begin` returns the function from observations to decisions; everything that an episode keeps lives there, so that
    one system serves threads. A decision's `notes` are those of `prefine_dspy.agents.notes`. An LM that cannot be
    reached raises.
    """

    name: str
    program: dspy.Module

    def begin(self, briefing: Briefing) -> Act: ...


class AgentSystem:
    """A system that is one agent of the library.

    Args:
        agent: the agent, with its options.
    """

    name: str

    def __init__(self, agent: StepAgent) -> None:
        self.program: dspy.Module = agent

    def begin(self, briefing: Briefing) -> Act:
        """A new episode."""
        agent: StepAgent = self.program
        return agent.begin(briefing)


__all__ = ["AgentSystem", "EpisodeSystem"]
