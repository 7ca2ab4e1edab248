"""U-Fold: at each message of the user the conversation and the tools' returns are folded anew (Su et al. 2026)."""

from __future__ import annotations

from dataclasses import dataclass, field

import dspy

from prefine_dspy.agents.asking import ask, ask_plain
from prefine_dspy.agents.lengths import up_to
from prefine_dspy.agents.options import whole_number
from prefine_dspy.agents.protocol import Briefing, Observation
from prefine_dspy.agents.reading import read_action
from prefine_dspy.agents.signatures import FoldDialogue, FoldTools, UFoldStep
from prefine_dspy.agents.step_agent import StepAgent, decided, record
from prefine_dspy.agents.transcript import Entry, Transcript

NOTHING = "(nothing yet)"
_MESSAGES = ("user", "agent")
_TOOLS = ("call", "result", "error")


@dataclass
class Folded:
    """An episode: all of it outside of the prompt, folds of it inside.

    Args:
        briefing: of the episode.
        whole: everything that was said and done.
        turn: the user's last message and the steps since then.
        summary, tool_log: the folds, as of that message.
    """

    briefing: Briefing
    whole: Transcript = field(default_factory=Transcript)
    turn: Transcript = field(default_factory=Transcript)
    summary: str = NOTHING
    tool_log: str = NOTHING


class UFold(StepAgent):
    """One LM call a step, and two more at each message of the user. A fold that cannot be read leaves the old one.

    Args:
        longest_summary, longest_log: characters of the two folds, of the conversation and of what tools returned.

    Raises:
        InputError: one of them is no whole number, 1 or more.
    """

    def __init__(self, longest_summary: int = 400, longest_log: int = 500) -> None:
        super().__init__()
        self.longest_summary = whole_number("longest_summary", longest_summary, 1)
        self.longest_log = whole_number("longest_log", longest_log, 1)
        self.act = dspy.Predict(UFoldStep)
        self.fold_dialogue = dspy.Predict(up_to(FoldDialogue, "summary", self.longest_summary))
        self.fold_tools = dspy.Predict(up_to(FoldTools, "tool_log", self.longest_log))

    def open(self, briefing: Briefing) -> Folded:
        """See `StepAgent.open`."""
        talk = Folded(briefing)
        talk.whole.add("agent", briefing.greeting)
        return talk

    def forward(self, talk: Folded, observation: Observation) -> dspy.Prediction:
        """See `StepAgent.forward`."""
        notes: dict[str, str | int] = {}
        if observation.source == "user":
            talk.turn = Transcript()
        talk.turn.observe(observation)
        talk.whole.observe(observation)
        if observation.source == "user":
            notes = self._fold(talk)
        answer = ask(self.act, talk.briefing, summary=talk.summary, tool_log=talk.tool_log, turn=talk.turn.render())
        read, thought = read_action(answer.action, talk.briefing.tools), answer.text("thought")
        record(talk.turn, read, {"thought": thought})
        record(talk.whole, read)
        return decided(read, thought=thought, **notes)

    def _fold(self, talk: Folded) -> dict[str, str | int]:
        trial, entries = talk.briefing.trial, talk.whole.entries
        dialogue = _text(entries, _MESSAGES)
        summary = ask_plain(self.fold_dialogue, trial, dialogue=dialogue).text("summary", self.longest_summary)
        talk.summary = summary or talk.summary
        calls = _text(entries, _TOOLS) or NOTHING
        answer = ask_plain(self.fold_tools, trial, summary=talk.summary, calls=calls)
        tool_log = answer.text("tool_log", self.longest_log)
        talk.tool_log = tool_log or talk.tool_log
        return {"summaries": 2, "summary": summary, "facts": tool_log}


def _text(entries: list[Entry], kinds: tuple[str, ...]) -> str:
    return Transcript([entry for entry in entries if entry.kind in kinds]).render()
