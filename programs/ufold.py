"""U-Fold: folds of the conversation and of what tools returned, made anew at each message of the user."""

from __future__ import annotations

from prefine_dspy.agents import UFold
from programs.episode_system import AgentSystem


class UFoldSystem(AgentSystem):
    """`UFold` as the runner drives it."""

    name = "ufold"
    agent = UFold
