"""From facts to constraints to intents (IDSS section 3.3): what is violated, blocked, released, missing, complete.

A pure function of the agent's word and the facts, so checking twice is checking once, and the order in which facts came
does not matter. For grounded constraints code's verdict counts; for the others, the agent's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from prefine_dspy.situation.condition_text import condition_text
from prefine_dspy.situation.facts import FactStore
from prefine_dspy.situation.grounding import Verdict, evaluate
from prefine_dspy.situation.layer import Constraint, Intent, IntentStatus, StateLayer, Variable


class Block(NamedTuple):
    """Why an intent cannot be carried out: facts -> constraint -> intent.

    Args:
        intent: the blocked one.
        constraint: the violated one.
        evidence: the facts as text, or the agent's evidence for a constraint that code cannot check.
        verdict: with the facts themselves; None for a constraint that code cannot check.
    """

    intent: str
    constraint: str
    evidence: str
    verdict: Verdict | None

    def __str__(self) -> str:
        return f"{self.evidence or 'the agent found it violated'} violates {self.constraint}"


@dataclass(frozen=True, slots=True)
class Check:
    """The state layer as code finds it.

    Args:
        layer: intents and constraints with the statuses that hold, reasons and evidence filled in.
        blocks: every chain fact -> constraint -> intent of an intent that is not completed.
        violated: names of all violated constraints, linked to an intent or not.
        waiting: dependencies that do not hold yet, by pending intent.
        unreachable: pending intents with a dependency that cannot come true as things are: it waits for the
            completion of a blocked intent, or for an intent that does not exist.
        cycles: groups of intents that wait for each other.
        ask, retrieve, derive: unknown variables that an unresolved intent needs, by how to get them.
        executable: intents with nothing in their way, in order.
        complete: every intent is completed or blocked, and there is one.
    """

    layer: StateLayer
    blocks: tuple[Block, ...] = ()
    violated: tuple[str, ...] = ()
    waiting: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unreachable: tuple[str, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    ask: tuple[Variable, ...] = ()
    retrieve: tuple[Variable, ...] = ()
    derive: tuple[Variable, ...] = ()
    executable: tuple[str, ...] = ()
    complete: bool = False

    def status(self, intent: str) -> IntentStatus | None:
        """The status of an intent; None for an unknown one."""
        found = self.layer.intent(intent)
        return found.status if found else None

    def blocked(self, intent: str) -> tuple[Block, ...]:
        """Why an intent is blocked; empty if no constraint blocks it."""
        return tuple(one for one in self.blocks if one.intent == intent)


def propagate(said: StateLayer, facts: FactStore) -> Check:
    """Evaluate every constraint, block and release intents, and tell what is missing.

    Args:
        said: the agent's word.
    """
    judged = [_judged(one, facts) for one in said.constraints]
    constraints = tuple(one for one, _ in judged)
    blocks = [
        Block(intent, one.name, one.evidence, verdict)
        for one, verdict in judged
        if one.status == "violated"
        for intent in one.guards
    ]
    intents = _Intents(said, blocks)
    found = tuple(intents.found(one) for one in said.intents)
    unresolved = [one for one in found if one.status not in ("completed", "blocked")]
    missing = [one for one in said.variables if not one.known and _is_needed(one, unresolved)]
    open_names = {one.name for one in found if one.status not in ("completed",)}
    return Check(
        layer=said.model_copy(update={"intents": found, "constraints": constraints}),
        blocks=tuple(one for one in blocks if one.intent in open_names),
        violated=tuple(one.name for one in constraints if one.status == "violated"),
        waiting=tuple((one.name, unmet) for one in unresolved if (unmet := intents.unmet(one))),
        unreachable=tuple(one.name for one in unresolved if any(map(intents.is_hopeless, intents.unmet(one)))),
        cycles=_cycles(said.intents),
        ask=tuple(one for one in missing if one.source == "askable"),
        retrieve=tuple(one for one in missing if one.source == "retrievable"),
        derive=tuple(one for one in missing if one.source == "derivable"),
        executable=tuple(one.name for one in unresolved if not intents.unmet(one) and intents.is_informed(one)),
        complete=bool(found) and not unresolved,
    )


def _judged(constraint: Constraint, facts: FactStore) -> tuple[Constraint, Verdict | None]:
    """The constraint with the status that holds, and code's verdict where there is one."""
    if constraint.grounding is None:
        return constraint, None
    verdict = evaluate(constraint.grounding, facts)
    if verdict.holds is None:  # not verifiable is never violated
        update = {"status": "unsatisfied", "evidence": ""}
    else:
        several = f" ({verdict.seen} seen)" if verdict.seen > 1 else ""
        evidence = verdict.evidence or condition_text(constraint.grounding)
        update = {"status": "satisfied" if verdict.holds else "violated", "evidence": evidence + several}
    return constraint.model_copy(update=update), verdict


def _is_needed(variable: Variable, unresolved: list[Intent]) -> bool:
    return bool(unresolved) and (not variable.needed_by or any(one.name in variable.needed_by for one in unresolved))


class _Intents:
    """The statuses of intents as they depend on blocks and on each other."""

    def __init__(self, said: StateLayer, blocks: list[Block]) -> None:
        self.said = {one.name: one for one in said.intents}
        self.blocks: dict[str, Block] = {}
        for block in blocks:
            self.blocks.setdefault(block.intent, block)
        self.unknown = [one for one in said.variables if not one.known]
        self.statuses: dict[str, IntentStatus] = {}
        self._open: set[str] = set()

    def found(self, intent: Intent) -> Intent:
        """The intent with the status that holds and, where code changed it, why."""
        status = self.status(intent.name)
        block = self.blocks.get(intent.name)
        if status == "blocked" and block is not None:
            return intent.model_copy(update={"status": status, "reason": str(block)})
        if status == intent.status:
            return intent
        if status == "active":
            return intent.model_copy(update={"status": status, "reason": f"after {', '.join(intent.depends_on)}"})
        return intent.model_copy(update={"status": status, "reason": f"waits for {', '.join(self.unmet(intent))}"})

    def status(self, name: str) -> IntentStatus:
        if name not in self.statuses:
            self._open.add(name)
            self.statuses[name] = self._status(self.said[name])
            self._open.discard(name)
        return self.statuses[name]

    def _status(self, intent: Intent) -> IntentStatus:
        if intent.status == "completed":
            return "completed"  # what is done cannot be blocked any more
        if intent.name in self.blocks or intent.status == "blocked":
            return "blocked"
        if self.unmet(intent):
            return "pending"
        released = bool(intent.depends_on) and self.is_informed(intent)
        return "active" if intent.status == "active" or released else "pending"

    def unmet(self, intent: Intent) -> tuple[str, ...]:
        return tuple(one for one in intent.depends_on if not self._is_met(one))

    def is_informed(self, intent: Intent) -> bool:
        """Whether every variable that it needs is known."""
        return not any(not one.needed_by or intent.name in one.needed_by for one in self.unknown)

    def _is_met(self, dependency: str) -> bool:
        name, status = split_dependency(dependency)
        intent = self.said.get(name)
        if intent is None:
            return False
        if status in ("completed", "blocked", "resolved"):  # these depend on no other intent
            done = intent.status == "completed"
            stopped = not done and (name in self.blocks or intent.status == "blocked")
            return {"completed": done, "blocked": stopped, "resolved": done or stopped}[status]
        return name not in self._open and self.status(name) == status

    def is_hopeless(self, dependency: str) -> bool:
        name, status = split_dependency(dependency)
        return name not in self.said or (status == "completed" and self.status(name) == "blocked")


def split_dependency(text: str) -> tuple[str, str]:
    """ "modify_flight.blocked" -> ("modify_flight", "blocked"); a name alone waits for its completion."""
    name, dot, status = text.rpartition(".")
    return (name, status) if dot else (text, "completed")


def _cycles(intents: tuple[Intent, ...]) -> tuple[tuple[str, ...], ...]:
    """Groups of intents that are all reachable from each other over their dependencies."""
    names = {one.name for one in intents}
    after = {one.name: {split_dependency(text)[0] for text in one.depends_on} & names for one in intents}
    reached: dict[str, set[str]] = {}
    for name in after:
        seen: set[str] = set()
        todo = list(after[name])
        while todo:
            if (other := todo.pop()) not in seen:
                seen.add(other)
                todo += after[other]
        reached[name] = seen
    groups = {tuple(other for other in after if other in reached[name] and name in reached[other]) for name in after}
    return tuple(sorted(group for group in groups if group))
