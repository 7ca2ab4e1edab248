"""IterResearch: a report in place of the history, written anew in every step."""

from __future__ import annotations

from prefine_dspy.agents import IterResearch
from programs.episode_system import AgentSystem


class IterResearchSystem(AgentSystem):
    """`IterResearch` as the runner drives it."""

    name = "iterresearch"
    agent = IterResearch
