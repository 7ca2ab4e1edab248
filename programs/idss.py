"""IDSS: a situation state beside the dialogue, kept up without LM calls of its own."""

from __future__ import annotations

from prefine_dspy.agents import IDSS
from programs.episode_system import AgentSystem


class IDSSSystem(AgentSystem):
    """`IDSS` as the runner drives it."""

    name = "idss"
    agent = IDSS
