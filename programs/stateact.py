"""StateAct: goal and state are written beside each thought, all of it kept in the history."""

from __future__ import annotations

from prefine_dspy.agents import StateAct
from programs.episode_system import AgentSystem


class StateActSystem(AgentSystem):
    """`StateAct` as the runner drives it."""

    name = "stateact"
    agent = StateAct
