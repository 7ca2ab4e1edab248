"""ReSum: ReAct whose history becomes a summary when it is too long (Wu et al. 2025)."""

from __future__ import annotations

import dspy

from prefine_dspy.agents.asking import ask, ask_plain
from prefine_dspy.agents.lengths import up_to
from prefine_dspy.agents.options import whole_number
from prefine_dspy.agents.protocol import Observation
from prefine_dspy.agents.reading import read_action
from prefine_dspy.agents.signatures import ReSumStep, Summarize
from prefine_dspy.agents.step_agent import StepAgent, Talk, decided, record
from prefine_dspy.agents.transcript import Entry, Transcript
from prefine_dspy.situation.situation import estimated_tokens

_COURSE = frozenset({"user", "agent", "call", "result", "error"})


class ReSum(StepAgent):
    """One LM call a step, and one more where the history passes its budget.

    The run begins anew with the first request and the summary; the newest message of the user, and what was just
    observed, stay as they are. A summary that cannot be read leaves the history as it was.

    Args:
        budget: tokens of history (a quarter of its characters) beyond which it is summarised.
        longest: characters of a summary.

    Raises:
        InputError: one of them is no whole number, 1 or more.
    """

    def __init__(self, budget: int = 1500, longest: int = 500) -> None:
        super().__init__()
        self.budget = whole_number("budget", budget, 1)
        self.act = dspy.Predict(ReSumStep)
        self.longest = whole_number("longest", longest, 1)
        self.summarize = dspy.Predict(up_to(Summarize, "summary", self.longest))

    def forward(self, talk: Talk, observation: Observation) -> dspy.Prediction:
        """See `StepAgent.forward`."""
        talk.transcript.observe(observation)
        summaries, summary = 0, ""
        first, older, newest = parted(talk.transcript.entries)
        if older and estimated_tokens(talk.transcript.render()) > self.budget:
            history = Transcript([*first, *older]).render()
            answer = ask_plain(self.summarize, talk.briefing.trial, history=history)
            summary = answer.text("summary", self.longest)
            summaries = 1
            if summary:
                talk.transcript.entries = [*first, Entry("summary", summary), *newest]
        answer = ask(self.act, talk.briefing, history=talk.transcript.render())
        read, thought = read_action(answer.action, talk.briefing.tools), answer.text("thought")
        record(talk.transcript, read, {"thought": thought})
        return decided(read, thought=thought, summaries=summaries, summary=summary)


def parted(entries: list[Entry]) -> tuple[list[Entry], list[Entry], list[Entry]]:
    """The first request, what a summary replaces, and what stays after it.

    A former summary and thoughts alone are not worth one: what is left over may be longer than any budget.
    """
    users = [at for at, entry in enumerate(entries) if entry.kind == "user"]
    calls = [at for at, entry in enumerate(entries) if entry.kind == "call"]
    last = len(entries) - 1
    kept = {last, users[-1]} if users else {last}
    if calls and entries[last].kind in ("result", "error"):
        kept.add(calls[-1])
    first = set(users[:1])
    older = [entry for at, entry in enumerate(entries) if at not in kept | first]
    if not any(entry.kind in _COURSE for entry in older):
        older = []
    return (
        [entries[at] for at in sorted(first)],
        older,
        [entries[at] for at in sorted(kept - first)],
    )
