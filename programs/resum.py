"""ReSum: ReAct whose history becomes a summary when it is too long."""

from __future__ import annotations

from prefine_dspy.agents import ReSum
from programs.episode_system import AgentSystem


class ReSumSystem(AgentSystem):
    """`ReSum` as the runner drives it.

    Args:
        budget, longest: see `ReSum`.
    """

    name = "resum"

    def __init__(self, budget: int = 1500, longest: int = 500) -> None:
        super().__init__(ReSum(budget, longest))
