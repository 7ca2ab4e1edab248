"""Agents for conversations with tools: IDSS and the methods it is compared with, as DSPy modules.

Each is briefed, then turns observations into actions, one call or one message at a time:

    act = ReAct().begin(Briefing(policy, tools))
    decision = act(Observation(source="user", text="Please cancel my booking K7."))
"""

from __future__ import annotations

from prefine_dspy.agents.idss import IDSS
from prefine_dspy.agents.iterresearch import IterResearch
from prefine_dspy.agents.notes import COUNTS
from prefine_dspy.agents.protocol import Act, Action, Agent, Briefing, Decision, Observation, Reply, Stop
from prefine_dspy.agents.react import ReAct
from prefine_dspy.agents.resum import ReSum
from prefine_dspy.agents.stateact import StateAct
from prefine_dspy.agents.ufold import UFold

__all__ = [
    "COUNTS",
    "IDSS",
    "Act",
    "Action",
    "Agent",
    "Briefing",
    "Decision",
    "IterResearch",
    "Observation",
    "ReAct",
    "ReSum",
    "Reply",
    "StateAct",
    "Stop",
    "UFold",
]
