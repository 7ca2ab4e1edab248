"""StateAct: goal, state, thought and action a step, all of them kept in the history (Rozanov and Rei 2025)."""

from __future__ import annotations

import dspy

from prefine_dspy.agents.asking import ask
from prefine_dspy.agents.protocol import Observation
from prefine_dspy.agents.reading import read_action
from prefine_dspy.agents.signatures import StateActStep
from prefine_dspy.agents.step_agent import StepAgent, Talk, decided, record

_KEPT = ("goal", "state", "thought")


class StateAct(StepAgent):
    """One LM call a step. The published code fits the fields of the state to each of its environments; here they are
    what such conversations have in common: ids, known values, done and open steps."""

    def __init__(self) -> None:
        super().__init__()
        self.act = dspy.Predict(StateActStep)

    def forward(self, talk: Talk, observation: Observation) -> dspy.Prediction:
        """See `StepAgent.forward`."""
        talk.transcript.observe(observation)
        answer = ask(self.act, talk.briefing, history=talk.transcript.render())
        read = read_action(answer.action, talk.briefing.tools)
        said = {name: answer.text(name) for name in _KEPT}
        record(talk.transcript, read, said)
        return decided(read, **said)
