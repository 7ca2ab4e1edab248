"""One agent at one task: the loop between an agent and an environment."""

from __future__ import annotations

from typing import Any

from eval.envs.episode import Episode, EpisodeStep
from eval.envs.protocol import Environment, task_of
from eval.envs.spent import judging, spent, together, used
from eval.failures import classify
from prefine_dspy.agents.protocol import Act, Agent, Briefing, Decision
from prefine_dspy.types import Memory


def play(
    environment: Environment,
    agent: Agent,
    task_id: str,
    *,
    trial: int = 0,
    remember: bool = False,
    max_steps: int | None = None,
) -> Episode:
    """Play one episode to its end.

    What the agent used is told apart from what the environment used when the caller measures (`eval.usage.measured`).
    An agent that cannot go on (its prompt outgrew the LM, its answer could not be used) has lost: the episode ends with
    reward 0 and keeps its transcript. What asking again may cure (a lost connection) is raised.

    Args:
        environment: not used by anybody else meanwhile.
        agent: begins a new episode.
        task_id, trial: which.
        remember: give the agent the task's memory.
        max_steps: actions after which it is given up with reward 0; the environment's own number when None.

    Raises:
        InputError: no such task.
        Exception: the LM or the environment failed in passing; nothing is known about the agent.
    """
    task = task_of(environment.tasks, task_id, environment.name)
    before = used()
    opening = environment.reset(task.id, trial=trial)
    opened = spent(before, used())
    memory = task.memory if remember else Memory()
    briefing = Briefing(environment.policy, environment.tools, environment.now, environment.greeting, memory, trial)
    act = agent.begin(briefing)
    limit = environment.max_steps if max_steps is None else max_steps
    steps: list[EpisodeStep] = []
    ended: dict[str, Any] = {"reward": 0.0, "termination": "max_steps"}
    observation = opening
    while len(steps) < limit:
        before = used()
        try:
            decision = act(observation)
        except Exception as error:
            if (failure := classify(error)).retry:
                raise
            ended |= {"termination": "error", "error": f"{failure.kind}: {failure.message}", "failed": failure.status}
            ended["lost"] = spent(before, used())
            break
        between = used()
        with judging() as judged:
            step = environment.step(decision.action)
        steps.append(
            EpisodeStep(
                action=decision.action,
                observation=step.observation,
                reward=step.reward,
                agent=spent(before, between),
                environment=spent(between, used()),
                judge=together(judged) if judged else None,
                details=step.details,
                notes=decision.notes,
            )
        )
        if step.done:
            ended = {"reward": step.reward or 0.0, "termination": step.termination or "env_done"}
            break
        if step.observation is None:
            raise RuntimeError(f"{environment.name} gave nothing to read and did not end")
        observation = step.observation
    return Episode(
        environment=environment.name,
        task_id=task.id,
        trial=trial,
        group=task.group,
        greeting=environment.greeting,
        opening=opening,
        opened=opened,
        steps=tuple(steps),
        gold=task.gold,
        outputs=task.outputs,
        writes=tuple(sorted(environment.writes)),
        remembered=bool(memory.text or memory.evidence),
        **ended,
    )


__all__ = ["Act", "Agent", "Briefing", "Decision", "play"]
