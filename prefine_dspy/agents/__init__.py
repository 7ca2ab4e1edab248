"""Agents for conversations with tools: IDSS and the methods it is compared with, as DSPy modules.

Each is briefed, then turns observations into actions, one call or one message at a time:

    act = ReAct().begin(Briefing(policy, tools))
    decision = act(Observation(source="user", text="Please cancel my booking K7."))
"""

from __future__ import annotations

from prefine_dspy.agents.notes import COUNTS
from prefine_dspy.agents.protocol import Act, Action, Agent, Briefing, Decision, Observation, Reply, Stop
from prefine_dspy.agents.react import ReAct

__all__ = ["COUNTS", "Act", "Action", "Agent", "Briefing", "Decision", "Observation", "ReAct", "Reply", "Stop"]
