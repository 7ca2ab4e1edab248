"""IDSS: a situation state beside the dialogue, kept up without LM calls of its own."""

from __future__ import annotations

from prefine_dspy.agents import IDSS
from prefine_dspy.situation.rendering import FactForm
from programs.episode_system import AgentSystem
from programs.nlsi_options import flag


class IDSSSystem(AgentSystem):
    """`IDSS` as the runner drives it.

    Args:
        facts, state, constraints, preferences, budget, keep_last, form, stop_when_complete: see `IDSS`.
    """

    name = "idss"

    def __init__(
        self,
        facts: bool = True,
        state: bool = True,
        constraints: bool = True,
        preferences: bool = True,
        budget: int = 1200,
        keep_last: int = 1,
        form: FactForm = "table",
        stop_when_complete: bool = False,
    ) -> None:
        flags = {
            "facts": facts,
            "state": state,
            "constraints": constraints,
            "preferences": preferences,
            "stop_when_complete": stop_when_complete,
        }
        switches = {name: flag(name, value) for name, value in flags.items()}
        super().__init__(IDSS(budget=budget, keep_last=keep_last, form=form, **switches))
