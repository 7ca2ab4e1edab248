"""What the six agents have in common: a step is an observation, one typed answer, and the action that it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dspy

from prefine_dspy.agents.asking import Answer
from prefine_dspy.agents.protocol import Act, Briefing, Decision, Observation
from prefine_dspy.agents.reading import read_action
from prefine_dspy.agents.transcript import UNUSED, Transcript


@dataclass
class Talk:
    """One episode of an agent; whatever an agent keeps between its steps is here.

    Args:
        briefing: of the episode.
        transcript: what was said and done.
    """

    briefing: Briefing
    transcript: Transcript = field(default_factory=Transcript)


class StepAgent(dspy.Module):
    """An agent whose step is one typed answer.

    An answer that cannot be used is no error: the user is asked to say it again (`reading.ASK_AGAIN`), the notes count
    it, and the LM is shown why.

    Example:
        agent = ReAct()
        with dspy.context(lm=resolve("local")):
            act = agent.begin(Briefing(policy, tools))
            decision = act(Observation(source="user", text="Cancel K7, please."))
    """

    def begin(self, briefing: Briefing) -> Act:
        """See `Agent.begin`."""
        talk = self.open(briefing)
        if briefing.greeting:
            talk.transcript.add("agent", briefing.greeting)

        def act(observation: Observation) -> Decision:
            prediction = self(talk=talk, observation=observation)
            return Decision(prediction.action, prediction.notes)

        return act

    def open(self, briefing: Briefing) -> Any:
        """What the agent keeps in an episode, at its begin."""
        return Talk(briefing)

    def forward(self, talk: Any, observation: Observation) -> dspy.Prediction:
        """One step.

        Args:
            talk: the episode; changes.
            observation: what was just read.

        Returns:
            A prediction with `action` and `notes` (`prefine_dspy.agents.notes`).
        """
        raise NotImplementedError


def decided(talk: Talk, answer: Answer, said: dict[str, str]) -> dspy.Prediction:
    """The step's end: the action of an answer, written into the transcript.

    Args:
        said: what the method keeps of the answer beside the action, by kind of entry.
    """
    read = read_action(answer.action, talk.briefing.tools)
    for kind, text in said.items():
        talk.transcript.add(kind, text)
    if not read.usable:
        talk.transcript.add("note", UNUSED.format(read.problem))
    talk.transcript.did(read.action)
    return dspy.Prediction(action=read.action, notes=notes_of(read.counts, problem=read.problem, **said))


def notes_of(counts: dict[str, int], **texts: str) -> dict[str, Any]:
    """Notes without what says nothing."""
    return {name: value for name, value in {**counts, **texts}.items() if value}
