"""What the six agents have in common: a step is an observation, one typed answer, and the action that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dspy

from prefine_dspy.agents.asking import offering
from prefine_dspy.agents.protocol import Act, Action, Briefing, Decision, Observation
from prefine_dspy.agents.reading import ReadAction
from prefine_dspy.agents.transcript import UNUSED, Transcript
from prefine_dspy.types import ToolCall


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
        done: list[Action] = []

        def act(observation: Observation) -> Decision:
            stuck = is_stuck(done)
            with offering(calls=not stuck):
                prediction = self(talk=talk, observation=observation)
            done.append(prediction.action)
            return Decision(prediction.action, {**prediction.notes, **({"stuck": 1} if stuck else {})})

        return act

    def open(self, briefing: Briefing) -> Any:
        """What the agent keeps in an episode, at its beginning."""
        talk = Talk(briefing)
        talk.transcript.add("agent", briefing.greeting)
        return talk

    def forward(self, talk: Any, observation: Observation) -> dspy.Prediction:
        """One step.

        Args:
            talk: the episode; changes.
            observation: what was just read.

        Returns:
            A prediction with `action` and `notes` (`prefine_dspy.agents.notes`).
        """
        raise NotImplementedError


def is_stuck(done: Sequence[Action]) -> bool:
    """Whether the last two actions were the same call: the next one is a message to the user then. A small LM makes a
    call again and again that it has the answer of."""
    return len(done) > 1 and isinstance(done[-1], ToolCall) and done[-1] == done[-2]


def record(transcript: Transcript, read: ReadAction, said: Mapping[str, str] | None = None) -> None:
    """Write an action down, after what the method keeps of the answer beside it, by kind of entry."""
    for kind, text in (said or {}).items():
        transcript.add(kind, text)
    if not read.usable:
        transcript.add("note", UNUSED.format(read.problem))
    transcript.did(read.action)


def decided(read: ReadAction, **notes: Any) -> dspy.Prediction:
    """A step's end; notes that say nothing are left out."""
    told = {**read.counts, "problem": read.problem, **notes}
    return dspy.Prediction(action=read.action, notes={name: value for name, value in told.items() if value})
