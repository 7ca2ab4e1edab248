"""ReSum: ReAct whose history becomes a summary when it is too long."""

from __future__ import annotations

from prefine_dspy.agents import ReSum
from programs.episode_system import AgentSystem


class ReSumSystem(AgentSystem):
    """`ReSum` as the runner drives it."""

    name = "resum"
    agent = ReSum
