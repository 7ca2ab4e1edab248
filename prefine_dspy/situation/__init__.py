"""IDSS's situation state without an LM: facts from tool returns, the task's state, and what follows from both.

For any agent loop: `SituationState.observe(tool, arguments, result)`, `.propose(answer)`, `.check()`,
`.render(budget)`.
"""

from __future__ import annotations

from prefine_dspy.situation.condition_text import condition_text, read_condition
from prefine_dspy.situation.extraction import Observation
from prefine_dspy.situation.facts import Fact, FactStore, Found, Source
from prefine_dspy.situation.grounding import Grounding, Test, Verdict
from prefine_dspy.situation.history import ResidualHistory
from prefine_dspy.situation.identity import EntityKey
from prefine_dspy.situation.layer import Constraint, Intent, StateLayer, Variable
from prefine_dspy.situation.propagation import Block, Check
from prefine_dspy.situation.proposal import Problem
from prefine_dspy.situation.rendering import NOTES, RENDERERS
from prefine_dspy.situation.situation import Change, Derived, Layers, Proposal, SituationState
from prefine_dspy.situation.state_tag import state_text, without_state
from prefine_dspy.situation.state_writing import write_state

__all__ = [
    "NOTES",
    "RENDERERS",
    "Block",
    "Change",
    "Check",
    "Constraint",
    "Derived",
    "EntityKey",
    "Fact",
    "FactStore",
    "Found",
    "Grounding",
    "Intent",
    "Layers",
    "Observation",
    "Problem",
    "Proposal",
    "ResidualHistory",
    "SituationState",
    "Source",
    "StateLayer",
    "Test",
    "Variable",
    "Verdict",
    "condition_text",
    "read_condition",
    "state_text",
    "without_state",
    "write_state",
]
