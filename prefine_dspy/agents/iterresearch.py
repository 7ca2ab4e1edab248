"""IterResearch: a report that is written anew in every step takes the place of the history (Chen et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass

import dspy

from prefine_dspy.agents.asking import ask
from prefine_dspy.agents.lengths import up_to
from prefine_dspy.agents.options import whole_number
from prefine_dspy.agents.protocol import Briefing, Observation
from prefine_dspy.agents.reading import read_action
from prefine_dspy.agents.signatures import IterResearchStep
from prefine_dspy.agents.step_agent import StepAgent, decided, record
from prefine_dspy.agents.transcript import Transcript

NO_REPORT = "(nothing yet)"
NO_ACTION = "(none)"


@dataclass
class Workspace:
    """What is left of an episode after each step.

    Args:
        briefing: of the episode.
        question: the user's first request.
        report: as it was last written.
        last_action: what was done last.
    """

    briefing: Briefing
    question: str = ""
    report: str = NO_REPORT
    last_action: str = NO_ACTION


class IterResearch(StepAgent):
    """One LM call a step. Later messages of the user are seen once; they survive only in the report. An answer without
    a report leaves the old one.

    Args:
        longest: characters of a report.

    Raises:
        InputError: it is no whole number, 1 or more.
    """

    def __init__(self, longest: int = 400) -> None:
        super().__init__()
        self.longest = whole_number("longest", longest, 1)
        self.act = dspy.Predict(up_to(IterResearchStep, "new_report", self.longest))

    def open(self, briefing: Briefing) -> Workspace:
        """See `StepAgent.open`."""
        return Workspace(briefing, last_action=f"agent: {briefing.greeting}" if briefing.greeting else NO_ACTION)

    def forward(self, talk: Workspace, observation: Observation) -> dspy.Prediction:
        """See `StepAgent.forward`."""
        seen = Transcript()
        seen.observe(observation)
        talk.question = talk.question or seen.entries[0].text
        answer = ask(
            self.act,
            talk.briefing,
            question=talk.question,
            report=talk.report,
            last_action=talk.last_action,
            last_observation=seen.render(),
        )
        read = read_action(answer.action, talk.briefing.tools)
        report = answer.text("new_report", self.longest)
        talk.report = report or talk.report
        done = Transcript()
        record(done, read)
        talk.last_action = done.render()
        return decided(read, report=report)
