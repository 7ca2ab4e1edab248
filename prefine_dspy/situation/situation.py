"""The situation of a task: facts from tools, the agent's intents, variables, constraints, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from prefine_dspy.errors import InputError
from prefine_dspy.situation.extraction import ERROR, RESULT, Observation, extract
from prefine_dspy.situation.facts import FactStore, Found, Source
from prefine_dspy.situation.identity import EntityKey, call_key, scalar_text
from prefine_dspy.situation.layer import Constraint, HowToGet, Intent, IntentStatus, StateLayer, Variable
from prefine_dspy.situation.paths import read_path
from prefine_dspy.situation.propagation import Check, propagate
from prefine_dspy.situation.proposal import Problem, merge, read_grounding
from prefine_dspy.situation.reading import Reading, read_return
from prefine_dspy.situation.rendering import RENDERERS, FactForm, check_form
from prefine_dspy.situation.snapshot import TokenCounter, View, snapshot, within
from prefine_dspy.situation.state_reading import read_sections, sections_of
from prefine_dspy.situation.state_tag import state_text, unfenced
from prefine_dspy.situation.state_writing import StateForm, state_fields, write_state


class Layers(NamedTuple):
    """Which parts are on: the ablations of IDSS section 4.3.

    Args:
        facts: False: tool returns are not read and stay in the history.
        state: False: no intents, variables and constraints.
        constraints: False: intents and variables, but no constraints and nothing that they block.
    """

    facts: bool = True
    state: bool = True
    constraints: bool = True


class Change(NamedTuple):
    """An intent whose status code changed.

    Args:
        step: of the last observation before it.
        kind: "blocked" by a violated constraint, "lifted" when it no longer is, "released" when what it waited for came
            true, "held" when that is no longer true.
    """

    step: int
    kind: Literal["blocked", "lifted", "released", "held"]
    intent: str
    reason: str


class Proposal(NamedTuple):
    """What became of an agent's state text.

    Args:
        applied: False: the old state stays, and counts as stale.
        problems: everything that was wrong with it.
        changes: what code changed after it.
    """

    applied: bool
    problems: tuple[Problem, ...]
    changes: tuple[Change, ...] = ()


class Derived(NamedTuple):
    """A variable's value from outside the dialogue.

    Args:
        value: a JSON value.
        provenance: where it comes from, for people and for the prompt: "preference memory version 3 (sessions s1, s4)".
    """

    value: Any
    provenance: str


DerivedSource = Callable[[Variable], "Derived | None"]
"""Asked for a value of an unknown variable; None if it has none."""


def estimated_tokens(text: str) -> int:
    """A quarter of the characters: an estimate without a tokenizer, about right for English and too low for Chinese."""
    return -(-len(text) // 4)


class SituationState:
    """Facts and task state of one dialogue, for any agent loop; no LM is called here.

    Example:
        situation = SituationState()
        situation.require("no change of basic economy", "reservation R42.cabin != basic_economy", guards=["modify"])
        seen = situation.observe("get_reservation_details", {"reservation_id": "R42"}, returned)
        history.tool(seen)                        # a reference instead of the return
        situation.propose(answer)                 # the answer's <state>, checked
        prompt = situation.render(budget=800)

    Args:
        layers: what is on.
        form: how facts are written; a key of `RENDERERS`.
        state_form: how the state layer is written.
        count_tokens: for budgets; an estimate by default.

    Attributes:
        facts: the fact layer.
        said: the agent's word; `check` tells what holds of it.
        step: observations so far.
        stale: turns since the last state that could be read.
        problems: how often each kind of problem occurred.
        changes: every block, release and so on, oldest first.
    """

    def __init__(
        self,
        layers: Layers = Layers(),  # noqa: B008 - immutable
        form: FactForm = "table",
        state_form: StateForm = "short",
        count_tokens: TokenCounter = estimated_tokens,
    ) -> None:
        check_form(form)
        self.layers = layers
        self.form: FactForm = form
        self.state_form: StateForm = state_form
        self.count_tokens = count_tokens
        self.facts = FactStore()
        self.said = StateLayer()
        self.step = 0
        self.stale = 0
        self.problems: Counter[str] = Counter()
        self.changes: list[Change] = []
        self._verbatim: set[tuple[EntityKey, str]] = set()
        self._check = propagate(self.said, self.facts)

    # ---------------------------------------------------------------------------------------------------------- facts

    def observe(self, tool: str, arguments: Mapping[str, Any], result: Any, error: bool | None = None) -> Observation:
        """Take in what a tool returned, and check all constraints again. Never raises on what tools return.

        Args:
            result: text or a JSON value.
            error: whether the call failed; None to tell it from the return.

        Returns:
            What it did, with the reference that replaces the return in the history (`ResidualHistory.tool`).
        """
        self.step += 1
        arguments = arguments if isinstance(arguments, Mapping) else {}
        if not self.layers.facts:
            return _unread(self.step, tool, arguments, result, bool(error))
        seen = extract(self.facts, self.step, tool, arguments, result, error)
        kept = call_key(tool, arguments), ERROR if seen.error else RESULT
        (self._verbatim.add if seen.verbatim else self._verbatim.discard)(kept)
        self._propagate()
        return seen

    def infer(self, type: str, id: str, attribute: str, value: Any, evidence: str) -> bool:
        """Add what the agent concluded itself. It never replaces what a tool returned; then False is returned."""
        known = self.facts.named(type, id)
        key = known[0] if known else EntityKey(type, id)
        accepted = self.facts.write(key, attribute, value, Source("inferred", self.step, evidence=evidence))
        self._propagate()
        return accepted

    def find(self, entity: str, path: str) -> Found | None:
        """A current value with its source: `find("reservation R42", "flights[0].price")`; None if none is known."""
        type, blank, id = entity.partition(" ")
        for key in self.facts.named(type, id) if blank else self.facts.named("", type):
            if (found := self.facts.find(key, read_path(path))) is not None:
                return found
        return None

    # ---------------------------------------------------------------------------------------------------------- state

    def propose(self, answer: str | Mapping[str, Any] | StateLayer) -> Proposal:
        """Take over the state in an agent's answer. Nothing is raised: what was wrong is counted, the rest is used.

        Args:
            answer: text with a `<state>` tag, or the state alone: as text, as a decoded object, or typed.
        """
        if not self.layers.state:
            return Proposal(False, ())
        sections, problem = _sections(answer)
        if sections is None:
            self.stale += 1
            self.problems[problem.kind] += 1
            return Proposal(False, (problem,))
        self.said, problems = merge(sections, self.said, self._check, self.layers.constraints)
        self.stale = 0
        self.problems.update(one.kind for one in problems)
        return Proposal(True, problems, self._propagate())

    def require(
        self,
        name: str,
        check: str,
        guards: tuple[str, ...] | list[str] = (),
        condition: str = "",
        kind: Any = "policy",
    ) -> tuple[Change, ...]:
        """Add a constraint of the program's own, which an agent's state can neither change nor remove.

        Args:
            check: what code compares, as `condition_text` writes it: `reservation R42.cabin != basic_economy`.
            guards: intents that a violation blocks.

        Raises:
            InputError: the check cannot be read.
        """
        grounding = read_grounding(check)
        if grounding is None:
            raise InputError(f"cannot read the check {check!r}: write it as 'reservation R42.cabin != basic_economy'")
        added = Constraint(
            name=name, condition=condition or name, guards=tuple(guards), grounding=grounding, kind=kind, pinned=True
        )
        rest = tuple(one for one in self.said.constraints if one.name != name)
        self.said = self.said.model_copy(update={"constraints": (*rest, added)})
        return self._propagate()

    def fill(self, source: DerivedSource, kinds: tuple[HowToGet, ...] = ("derivable",)) -> tuple[Variable, ...]:
        """Ask a source outside the dialogue, such as a preference memory, for the unknown variables of these kinds.

        What it knows is known from then on, with its provenance, until the agent gives another value.

        Returns:
            The variables that it filled.
        """
        filled = []
        for variable in self.said.variables:
            if variable.known or variable.source not in kinds:
                continue
            if (derived := source(variable)) is not None:
                update = {"value": derived.value, "known": True, "provenance": derived.provenance}
                filled.append(variable.model_copy(update=update))
        if filled:
            new = {one.name: one for one in filled}
            variables = tuple(new.get(one.name, one) for one in self.said.variables)
            self.said = self.said.model_copy(update={"variables": variables})
            self._propagate()
        return tuple(filled)

    def check(self) -> Check:
        """What follows from the facts and the agent's word: statuses, blocks, what is missing, whether all is done."""
        return self._check

    @property
    def state(self) -> StateLayer:
        """The state layer with the statuses that hold."""
        return self._check.layer

    def _propagate(self) -> tuple[Change, ...]:
        said = self.said if self.layers.constraints else self.said.model_copy(update={"constraints": ()})
        before, after = self._check, propagate(said, self.facts)
        # a blocked intent was active; when the block is lifted it waits to be taken up again
        stopped = {one.intent for one in after.blocks}
        if any(one.name in stopped and one.status == "active" for one in said.intents):
            intents = tuple(_pending(one) if one.name in stopped else one for one in said.intents)
            self.said = self.said.model_copy(update={"intents": intents})
        self._check = after
        changes = _changes(self.step, before, after)
        self.changes += changes
        return changes

    # ------------------------------------------------------------------------------------------------------ rendering

    def render(self, budget: int | None = None, with_history: bool = False) -> str:
        """Facts and state for a prompt.

        Args:
            budget: at most so many tokens, by `count_tokens`. Facts give way to it by being named instead of shown; the
                state layer never does.
            with_history: the prompt also holds the residual history, so what stands there as it came is left out here.
        """
        state = self.render_state()
        rest = None if budget is None else max(0, budget - self.count_tokens(state))
        parts = [self.render_facts(rest, with_history), state]
        return "\n".join(part for part in parts if part)

    def render_facts(self, budget: int | None = None, with_history: bool = False) -> str:
        """The fact layer alone; see `render`."""
        views = snapshot(self.facts, self._verbatim if with_history else ())
        render = RENDERERS[self.form]
        text = render(views) if budget is None else within(budget, views, render, self.count_tokens, self._is_in_use())
        return _clean(text)

    def render_state(self) -> str:
        """The state layer alone, with the statuses that hold."""
        if not self.layers.state:
            return ""
        return _clean(write_state(self.state, self.state_form)) if any(state_fields(self.state).values()) else ""

    def _is_in_use(self) -> Callable[[View], bool]:
        """Whether a constraint or a variable's value refers to an entity."""
        grounded = {(one.grounding.type, one.grounding.id) for one in self.said.constraints if one.grounding}
        ids = {id.casefold() for _, id in grounded if id}
        types = {type.casefold() for type, id in grounded if not id}
        for variable in self.said.variables:
            ids |= {
                str(one).casefold()
                for one in (variable.value if isinstance(variable.value, list) else [variable.value])
            }
        return lambda view: view.key.id.casefold() in ids or view.key.type.casefold() in types


def _sections(answer: str | Mapping[str, Any] | StateLayer) -> tuple[dict[str, Any] | None, Problem]:
    """The sections of a state, or None and why there are none."""
    if isinstance(answer, StateLayer):
        return state_fields(answer), Problem("missing", "")
    if isinstance(answer, Mapping):
        return sections_of(dict(answer)), Problem("unreadable", "the object has no intents, variables or constraints")
    tagged = state_text(answer)
    text = tagged if tagged is not None else unfenced(answer)
    kind: Any = "missing" if tagged is None else "unreadable"
    return read_sections(text), Problem(kind, "there is no <state>" if tagged is None else "the <state> cannot be read")


def _unread(step: int, tool: str, arguments: Mapping[str, Any], result: Any, error: bool) -> Observation:
    """An observation of which nothing is kept but its text (without the fact layer)."""
    reading: Reading = Reading("text", result) if isinstance(result, str) else read_return(result)
    text = scalar_text(reading.value)
    return Observation(step, tool, arguments, "text", (), error, text, text)


def _pending(intent: Intent) -> Intent:
    return intent.model_copy(update={"status": "pending"}) if intent.status == "active" else intent


def _changes(step: int, before: Check, after: Check) -> tuple[Change, ...]:
    found = []
    for intent in after.layer.intents:
        old: IntentStatus | None = before.status(intent.name)
        if old == intent.status:
            continue
        if intent.status == "blocked" and after.blocked(intent.name):
            found.append(Change(step, "blocked", intent.name, intent.reason))
        elif old == "blocked" and before.blocked(intent.name) and intent.status != "completed":
            found.append(Change(step, "lifted", intent.name, intent.reason))
        elif old == "pending" and intent.status == "active" and intent.depends_on:
            found.append(Change(step, "released", intent.name, intent.reason))
        elif old == "active" and intent.status == "pending" and intent.depends_on:
            found.append(Change(step, "held", intent.name, intent.reason))
    return tuple(found)


def _clean(text: str) -> str:
    """Halves of characters, which tools return and no LM takes, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
