"""ReAct: a thought and an action a step, all of the history in every prompt (Yao et al. 2022)."""

from __future__ import annotations

import dspy

from prefine_dspy.agents.asking import ask
from prefine_dspy.agents.protocol import Observation
from prefine_dspy.agents.reading import read_action
from prefine_dspy.agents.signatures import ReActStep
from prefine_dspy.agents.step_agent import StepAgent, Talk, decided, record


class ReAct(StepAgent):
    """One LM call a step."""

    def __init__(self) -> None:
        super().__init__()
        self.act = dspy.Predict(ReActStep)

    def forward(self, talk: Talk, observation: Observation) -> dspy.Prediction:
        """See `StepAgent.forward`."""
        talk.transcript.observe(observation)
        answer = ask(self.act, talk.briefing, history=talk.transcript.render())
        read, thought = read_action(answer.action, talk.briefing.tools), answer.text("thought")
        record(talk.transcript, read, {"thought": thought})
        return decided(read, thought=thought)
