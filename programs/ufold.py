"""U-Fold: folds of the conversation and of what tools returned, made anew at each message of the user."""

from __future__ import annotations

from prefine_dspy.agents import UFold
from programs.episode_system import AgentSystem


class UFoldSystem(AgentSystem):
    """`UFold` as the runner drives it.

    Args:
        longest_summary, longest_log: see `UFold`.
    """

    name = "ufold"

    def __init__(self, longest_summary: int = 400, longest_log: int = 500) -> None:
        super().__init__(UFold(longest_summary, longest_log))
