"""What an interactive benchmark is to an agent: a policy, tools, a user to talk to, and a reward at the end.

One action a step: an agent calls one tool or says one thing. tau-bench runs only the first call of a message; the
others would take several, but then no two benchmarks would count steps alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from prefine_dspy.agents.protocol import Action, Observation, Reply, Stop
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, ToolCall

Termination = Literal["user_stop", "agent_stop", "transfer", "max_steps", "env_done", "error"]
"""Who or what ended an episode: the user, the agent, a transfer to a human, the limit on steps, the environment's own
rule (every option answered, ...), or an error that made it impossible to go on."""


class Record(BaseModel):
    """Immutable, compares by value, turns to and from JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Step(Record):
    """What one action led to.

    Args:
        observation: None when there is nothing more to read.
        reward: of the episode, once it is done; of the step where a benchmark rewards steps (UserBench).
        done: the episode is over.
        termination: why; None while it goes on.
        details: how the reward came about and whatever else is the benchmark's own, JSON only. Known keys:
            `asked` (what the message asked the user for, by slot; at every step, where the environment can tell),
            `violations` (rules of the policy that the call broke), `rubrics` (share met), `aspects` and `preferences`
            (UserBench), `checks` (parts of the reward).
    """

    observation: Observation | None
    reward: float | None = None
    done: bool = False
    termination: Termination | None = None
    details: dict[str, Any] = Field(default_factory=dict)


class EnvTask(Record):
    """A task as the harness knows it; an agent sees nothing of it but the memory.

    Args:
        id: unique in its environment.
        group: a kind of task to report apart ("refusal", "level 2", ...); may be empty.
        memory: what is remembered of this user from former sessions; empty where a benchmark has none.
        gold: calls that lead to the full reward, in order; empty where a benchmark states none.
        outputs: what the agent also has to say.
    """

    id: str
    group: str = ""
    memory: Memory = Memory()
    gold: tuple[ToolCall, ...] = ()
    outputs: tuple[str, ...] = ()


class Environment(Protocol):
    """A benchmark's domain. Not for use by two threads at once: make one for each.

    Attributes:
        name: as `--data` names it ("builtin", "tau:airline").
        tasks: in the benchmark's order.
        policy: what the agent has to follow; may depend on the task, so read it after `reset`.
        tools: what the agent may call; read it after `reset`.
        writes: names of the tools that change something.
        now: the time in the environment as its policy states it; None when it has none.
        greeting: what the agent has already said before the user's first words; empty when the user begins.
        max_steps: actions after which an episode is given up.
    """

    @property
    def name(self) -> str: ...

    @property
    def tasks(self) -> Sequence[EnvTask]: ...

    @property
    def policy(self) -> str: ...

    @property
    def tools(self) -> Catalogue: ...

    @property
    def writes(self) -> frozenset[str]: ...

    @property
    def now(self) -> str | None: ...

    @property
    def greeting(self) -> str: ...

    @property
    def max_steps(self) -> int: ...

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        """Begin a task anew; the user's first words.

        Args:
            task_id: of one of `tasks`.
            trial: tells repetitions apart for a user that an LM plays (DSPy's `rollout_id`).

        Raises:
            InputError: no such task.
        """
        ...

    def step(self, action: Action) -> Step:
        """Do one action.

        Raises:
            RuntimeError: the episode is over, or none was begun.
        """
        ...

    def close(self) -> None:
        """Let go of what the environment holds; a second time does nothing."""
        ...


def task_of(tasks: Sequence[EnvTask], task_id: str, environment: str) -> EnvTask:
    """The task of that id.

    Raises:
        InputError: there is none.
    """
    for task in tasks:
        if task.id == task_id:
            return task
    raise InputError(f"{environment} has no task {task_id!r}; its {len(tasks)} tasks begin with {_some(tasks)}")


def _some(tasks: Sequence[EnvTask]) -> str:
    return ", ".join(task.id for task in tasks[:3]) or "none"


__all__ = [
    "Action",
    "EnvTask",
    "Environment",
    "Observation",
    "Record",
    "Reply",
    "Step",
    "Stop",
    "Termination",
    "task_of",
]
