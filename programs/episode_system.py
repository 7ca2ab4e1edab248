"""What the runner asks of a system on interactive benchmarks.

A system is an `Agent` of `prefine_dspy.agents.protocol`, which `eval.envs.play` drives.
"""

from __future__ import annotations

import inspect
from typing import Any, Protocol

import dspy

from prefine_dspy.agents import Act, Briefing
from prefine_dspy.agents.step_agent import StepAgent
from programs.nlsi_options import flag
from programs.program_options import options_of


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
    """A system that is one agent of the library; its options are the agent's."""

    name: str
    agent: type[StepAgent]
    __signature__: inspect.Signature

    def __init_subclass__(cls) -> None:
        cls.__signature__ = options_of(cls.agent)  # what `load_system` takes for the system's options

    def __init__(self, **options: Any) -> None:
        switches = {name for name, one in options_of(self.agent).parameters.items() if isinstance(one.default, bool)}
        plain = {name: flag(name, value) if name in switches else value for name, value in options.items()}
        self.program: dspy.Module = self.agent(**plain)

    def begin(self, briefing: Briefing) -> Act:
        """A new episode."""
        agent: StepAgent = self.program
        return agent.begin(briefing)


__all__ = ["AgentSystem", "EpisodeSystem"]
