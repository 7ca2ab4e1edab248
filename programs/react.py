"""ReAct: the complete history in every prompt, one LM call a step."""

from __future__ import annotations

from prefine_dspy.agents import ReAct
from programs.episode_system import AgentSystem


class ReActSystem(AgentSystem):
    """`ReAct` as the runner drives it."""

    name = "react"
    agent = ReAct
