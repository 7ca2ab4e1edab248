"""IDSS: a situation state beside the dialogue, kept up without LM calls of its own (IDSS section 3).

One step: what was observed goes into the facts; the LM is asked once, for a thought, the state's changes and the
action; the state is checked, propagated and, where the user is remembered, filled; an action that a violated constraint
blocks is not done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dspy

from prefine_dspy.adapter import is_noise
from prefine_dspy.agents.asking import Answer, ask
from prefine_dspy.agents.idss_state import state_type, whole_state
from prefine_dspy.agents.options import truth, whole_number
from prefine_dspy.agents.protocol import Action, Briefing, Observation, Reply, Stop
from prefine_dspy.agents.reading import ReadAction, read_action
from prefine_dspy.agents.reads import only_reads
from prefine_dspy.agents.remembered import remembered
from prefine_dspy.agents.signatures import IDSSFactsStep, IDSSIntentsStep, IDSSStep
from prefine_dspy.agents.step_agent import StepAgent, decided
from prefine_dspy.agents.transcript import UNUSED
from prefine_dspy.parsing_syntax import plain_name
from prefine_dspy.rendering import memory_text
from prefine_dspy.situation import (
    NOTES,
    Block,
    Layers,
    ResidualHistory,
    SituationState,
    Variable,
    state_text,
)
from prefine_dspy.situation.rendering import FactForm, check_form
from prefine_dspy.types import ToolCall

NOTHING = "(nothing yet)"


@dataclass
class Situation:
    """One episode.

    Args:
        briefing: of the episode.
        state: facts, intents, variables, constraints.
        history: what was said, every call, references in place of returns.
        trouble: why the last answer could not be used; "" if it could.
    """

    briefing: Briefing
    state: SituationState
    history: ResidualHistory
    trouble: str = ""


class IDSS(StepAgent):
    """One LM call a step.

    Args:
        facts, state, constraints: False takes out a layer (the ablations of IDSS section 4.3). Without the state there
            are no constraints either.
        preferences: derivable variables may be filled from the user's memory, and its text is shown. They are filled
            when the LM has named them: what it names and asks for in one step is asked all the same.
        budget: tokens of facts and state in a prompt; facts give way by being named instead of shown.
        keep_last: so many of the last tool returns stay in the history as they came.
        form: how facts are written; a key of `prefine_dspy.situation.RENDERERS`.
        stop_when_complete: end the conversation with the message that finds every intent settled (IDSS's completion
            rule). By default the user has the last word: they may have another request.

    Raises:
        InputError: an option of the wrong kind.
    """

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
        super().__init__()
        check_form(form)
        self.layers = Layers(truth("facts", facts), truth("state", state), truth("constraints", constraints) and state)
        self.preferences = truth("preferences", preferences)
        self.budget = whole_number("budget", budget, 1)
        self.keep_last = whole_number("keep_last", keep_last, 0)
        self.form = form
        self.stop_when_complete = truth("stop_when_complete", stop_when_complete)
        signature = IDSSStep if self.layers.constraints else IDSSIntentsStep if state else IDSSFactsStep
        self.act = dspy.Predict(signature if facts else without_facts(signature))

    def open(self, briefing: Briefing) -> Situation:
        """See `StepAgent.open`."""
        talk = Situation(briefing, SituationState(self.layers, self.form), ResidualHistory())
        talk.history.agent(briefing.greeting)
        return talk

    def forward(self, talk: Situation, observation: Observation) -> dspy.Prediction:
        """See `StepAgent.forward`."""
        observe(talk, observation)
        types = {"state": state_type(self.layers.constraints)} if self.layers.state else {}
        answer = ask(self.act, talk.briefing, types, **self._inputs(talk))
        notes: dict[str, Any] = self._update(talk, answer) if self.layers.state else {}
        read = read_action(answer.action, talk.briefing.tools)
        if blocks := _vetoed(talk.state, read, answer.text("intent")):
            read = ReadAction(Reply(text=_explained(talk.state, blocks[0])), {"blocked": 1}, str(blocks[0]))
        talk.trouble = "" if read.usable else read.problem
        action: Action = read.action
        complete = self.layers.state and talk.state.check().complete
        if isinstance(action, Reply):
            talk.history.agent(action.text)
            if complete and self.stop_when_complete and read.usable and "blocked" not in read.counts:
                action = Stop(text=action.text)
        prediction = decided(read, thought=answer.text("thought"), complete=complete, **notes)
        prediction.action = action
        return prediction

    def _inputs(self, talk: Situation) -> dict[str, str]:
        """What the LM reads; what changes in every step comes last."""
        memory = memory_text(talk.briefing.memory) if self.preferences else ""
        history = talk.history.render(self.keep_last)
        if talk.trouble:
            history = f"{history}\nnote: {UNUSED.format(talk.trouble)}"
        inputs = {"known": memory or NOTHING, "history": history}
        state = talk.state.render_state()
        if self.layers.facts:
            rest = max(0, self.budget - talk.state.count_tokens(state))
            facts = talk.state.render_facts(rest, with_history=True)
            how = NOTES[self.form]
            inputs["facts"] = "\n".join(part for part in (how and f"({how})", facts) if part) if facts else NOTHING
        if self.layers.state:
            inputs["situation"] = "\n".join(part for part in (state, _open_points(talk.state)) if part) or NOTHING
        return inputs

    def _update(self, talk: Situation, answer: Answer) -> dict[str, Any]:
        """Take over the answer's state; the notes on it."""
        update = answer.fields.get("state")
        if isinstance(update, Mapping):
            proposal = talk.state.propose(whole_state(update, talk.state.state))
        else:
            text = update if isinstance(update, str) else "" if is_noise(answer.raw) else answer.raw
            proposal = talk.state.propose(text if state_text(text) is not None or update else "")
        filled: tuple[Variable, ...] = ()
        if self.preferences and talk.briefing.memory.evidence:
            filled = talk.state.fill(remembered(talk.briefing.memory, talk.briefing.tools))
        return {
            "stale": int(not proposal.applied),
            "filled": len(filled),
            "remembered": {one.name: one.value for one in filled},
            "state": talk.state.render_state(),
        }


def without_facts(signature: type[dspy.Signature]) -> type[dspy.Signature]:
    """The step of the ablation: what tools returned stays in the history, and the prompt says so."""
    told = signature.instructions.replace("Facts are what tools returned, and", "What tools returned is")
    return (
        signature.delete("facts")
        .with_instructions(told)
        .with_updated_fields("history", desc="the conversation and what tools returned, oldest first")
    )


def observe(talk: Situation, observation: Observation) -> None:
    """What was observed, into facts and history."""
    if observation.source == "user":
        talk.history.user(observation.text)
        return
    call = observation.call or ToolCall(name="tool")
    talk.history.tool(talk.state.observe(call.name, call.arguments, observation.text, observation.error))


def _vetoed(state: SituationState, read: ReadAction, intent: str) -> tuple[Block, ...]:
    """Why a call must not be made: its intent is blocked, and it may change something. The intent is the answer's own
    word, in any spelling that differs in case and separators only."""
    if not isinstance(read.action, ToolCall) or only_reads(read.action.name):
        return ()
    return tuple(block for block in state.check().blocks if plain_name(block.intent) == plain_name(intent))


def _explained(state: SituationState, block: Block) -> str:
    constraint = state.state.constraint(block.constraint)
    rule = constraint.condition if constraint and constraint.condition else block.constraint
    evidence = f" ({block.evidence})" if block.evidence else ""
    return f"I am sorry, this cannot be done. It is required that: {rule}{evidence}. Would you like something else?"


def _open_points(state: SituationState) -> str:
    """What the state amounts to, in one line for each way to go on."""
    check = state.check()
    points = {"ask the user for": check.ask, "look up": check.retrieve, "work out": check.derive}
    lines = [f"{what}: {', '.join(one.name for one in found)}" for what, found in points.items() if found]
    lines += [f"blocked: {block.intent}, because {block}" for block in check.blocks]
    if check.complete:
        lines.append("every intent is settled: ask whether there is anything else")
    return "\n".join(lines)
