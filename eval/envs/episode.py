"""The record of one attempt at one task: everything that was said and done, what it cost, and what it was worth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from eval.envs.protocol import Action, Observation, Record, Reply, Stop, Termination
from prefine_dspy.types import ToolCall


class LmUsage(Record):
    """What one side used in one step.

    Args:
        lm_calls: answers of an LM.
        input_tokens, output_tokens: as the LM reported them; 0 when it did not.
        lm_seconds: how long the LM took.
    """

    lm_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    lm_seconds: float = 0.0


class EpisodeStep(Record):
    """An action and what came of it.

    Args:
        action: of the agent.
        observation: the answer; None when there was nothing more to read.
        reward: of this step, where the benchmark rewards steps; of the episode in its last one.
        agent, environment: what deciding and answering used (an LM may play the user); None when not measured.
        judge: that part of `environment` which a judge used, not the user.
        details: the environment's (`Step.details`).
        notes: the agent's (its state, how its answer was parsed, ...), JSON only.
    """

    action: Action
    observation: Observation | None = None
    reward: float | None = None
    agent: LmUsage | None = None
    environment: LmUsage | None = None
    judge: LmUsage | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    notes: dict[str, Any] = Field(default_factory=dict)


class Episode(Record):
    """One trial at one task. With its gold calls it can be scored again without its benchmark.

    Args:
        environment: `Environment.name`.
        task_id, group, trial: which task, its kind, which repetition (from 0).
        greeting: said by the agent before the opening; may be empty.
        opening: the user's first words.
        opened: what the environment used for them; None when not measured.
        steps: in order.
        lost: what the agent used for an answer that ended the episode instead of leading to a step.
        reward: between 0 and 1; 0 when the episode was given up.
        termination: why it ended.
        error: why the agent could not go on, with termination "error"; else empty.
        failed: the same in one word: "parse_error" (an answer of its LM could not be used), "lm_error" (its LM gave
            none, and would not if asked again); "" for every other end.
        gold, outputs: of the task.
        writes: names of the environment's tools that change something.
        remembered: the agent was given the task's memory, and there is one.
    """

    environment: str
    task_id: str
    trial: int = 0
    group: str = ""
    greeting: str = ""
    opening: Observation
    opened: LmUsage | None = None
    steps: tuple[EpisodeStep, ...] = ()
    lost: LmUsage | None = None
    reward: float = 0.0
    termination: Termination
    error: str = ""
    failed: Literal["", "parse_error", "lm_error"] = ""
    gold: tuple[ToolCall, ...] = ()
    outputs: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    remembered: bool = False

    @property
    def id(self) -> str:
        """Unique in a run: `<task>/<trial>`."""
        return f"{self.task_id}/{self.trial}"

    def calls(self, *, executed: bool = False) -> list[ToolCall]:
        """The tool calls in order; with `executed` only those that no error answered."""
        return [
            step.action
            for step in self.steps
            if isinstance(step.action, ToolCall)
            and not (executed and step.observation is not None and step.observation.error)
        ]

    def observed(self) -> Iterator[str]:
        """Every text that the agent got to read, in order."""
        yield self.opening.text
        for step in self.steps:
            if step.observation is not None:
                yield step.observation.text

    def messages(self) -> list[dict[str, Any]]:
        """The transcript as chat messages (OpenAI's shape), without a system message."""
        found: list[dict[str, Any]] = []
        if self.greeting:
            found.append({"role": "assistant", "content": self.greeting})
        found.append({"role": "user", "content": self.opening.text})
        for number, step in enumerate(self.steps):
            found += _messages(number, step)
        return found


def _messages(number: int, step: EpisodeStep) -> Iterator[dict[str, Any]]:
    answer = step.observation.text if step.observation is not None else None
    if isinstance(step.action, ToolCall):
        identity = f"call_{number}"
        function = {"name": step.action.name, "arguments": json.dumps(step.action.arguments, ensure_ascii=False)}
        yield {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": identity, "type": "function", "function": function}],
        }
        if answer is not None:
            yield {"role": "tool", "tool_call_id": identity, "name": step.action.name, "content": answer}
        return
    if step.action.text or isinstance(step.action, Reply):
        yield {"role": "assistant", "content": step.action.text}
    if answer is not None and not isinstance(step.action, Stop):
        yield {"role": "user", "content": answer}
