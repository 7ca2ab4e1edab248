"""The state layer's nouns: intents, variables, constraints (IDSS section 3.2.2). All immutable."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict

from prefine_dspy.situation.grounding import Grounding

IntentStatus = Literal["active", "pending", "completed", "blocked"]
ConstraintStatus = Literal["satisfied", "unsatisfied", "violated"]
HowToGet = Literal["askable", "retrievable", "derivable"]
ConstraintKind = Literal["preference", "precondition", "policy"]
INTENT_STATUSES: tuple[str, ...] = get_args(IntentStatus)
CONSTRAINT_STATUSES: tuple[str, ...] = get_args(ConstraintStatus)
HOW_TO_GET: tuple[str, ...] = get_args(HowToGet)
CONSTRAINT_KINDS: tuple[str, ...] = get_args(ConstraintKind)
DEPENDENCY_STATUSES = (*INTENT_STATUSES, "resolved")
"""What a dependency may wait for; "resolved" is completed or blocked."""


class _Noun(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Intent(_Noun):
    """One goal of the user.

    Args:
        name: unique; `modify_flight`.
        status: as the agent says it, or after `check`, as code finds it.
        goal: the goal in words, if the name does not say it.
        reason: why it has this status.
        depends_on: conditions "intent.status" that must all hold first; so a fallback can wait for a blocked intent.
    """

    name: str
    status: IntentStatus = "pending"
    goal: str = ""
    reason: str = ""
    depends_on: tuple[str, ...] = ()


class Variable(_Noun):
    """Something that must be known before an intent can be carried out.

    Args:
        name: unique.
        value: a JSON value; None while unknown.
        source: "askable" from the user, "retrievable" with a tool, "derivable" from what is known.
        known: whether the value is known.
        evidence: where the agent has it from, in its words.
        needed_by: names of the intents that need it; empty for all of them.
        provenance: where code has it from, e.g. "preference memory version 3"; empty if the agent gave it.
    """

    name: str
    value: Any = None
    source: HowToGet = "askable"
    known: bool = False
    evidence: str = ""
    needed_by: tuple[str, ...] = ()
    provenance: str = ""


class Constraint(_Noun):
    """A condition on what the agent does.

    Args:
        name: unique; the condition's text if it has no name of its own.
        condition: the rule in a few words.
        guards: names of the intents that a violation blocks. A rule without them is shown, and blocks nothing.
        grounding: what code can check; without it the agent's word counts.
        status: as the agent says it, or after `check`, as code finds it.
        evidence: what the status rests on.
        kind: the user's preference, a tool's precondition, or a rule of the policy.
        pinned: set by the program: an agent's state text can neither change nor remove it.
    """

    name: str
    condition: str = ""
    guards: tuple[str, ...] = ()
    grounding: Grounding | None = None
    status: ConstraintStatus = "unsatisfied"
    evidence: str = ""
    kind: ConstraintKind | None = None
    pinned: bool = False


class StateLayer(_Noun):
    """Everything that the state layer holds, in the order in which it came."""

    intents: tuple[Intent, ...] = ()
    variables: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def intent(self, name: str) -> Intent | None:
        """The intent of that name."""
        return next((one for one in self.intents if one.name == name), None)

    def variable(self, name: str) -> Variable | None:
        """The variable of that name."""
        return next((one for one in self.variables if one.name == name), None)

    def constraint(self, name: str) -> Constraint | None:
        """The constraint of that name."""
        return next((one for one in self.constraints if one.name == name), None)
