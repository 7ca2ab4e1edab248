"""tau2-bench (Barres et al. 2025): the repaired airline and retail tasks.

Driven through its own environment, user and evaluator, step by step instead of through its orchestrator. The user and
the judge of natural-language assertions (40 retail tasks) are played by the LMs the caller names. Its data lie in a
checkout beside the package, or where TAU2_DATA_DIR says.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from typing import Any

import dspy

from eval.envs.conversation import Conversation, Conversing
from eval.envs.missing import not_installed
from eval.envs.protocol import EnvTask, Observation, Termination, task_of
from eval.envs.speaker import Speaker, lead_to_speaker, required, speaking
from prefine_dspy.errors import InputError
from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.types import ToolCall

INSTALL = (
    "git clone https://github.com/sierra-research/tau2-bench, then pip install -e tau2-bench "
    "(Python 3.12 or newer; its data stay in the checkout)"
)
DOMAINS = ("airline", "retail", "mock")


class Tau2(Conversing):
    """One domain of tau2-bench.

    Args:
        domain: "airline" or "retail"; others need users that call tools themselves.
        user: plays the user.
        judge: checks natural-language assertions; the user's LM when None.
        split: of its tasks.

    Raises:
        InputError: tau2-bench or its data are not there, or it has no such domain.
    """

    max_steps = 100

    def __init__(
        self, domain: str, user: dspy.BaseLM | None = None, judge: dspy.BaseLM | None = None, split: str = "base"
    ) -> None:
        if domain not in DOMAINS:
            raise InputError(f"tau2 has no domain {domain!r} for an agent alone: choose tau2:airline or tau2:retail")
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            from tau2.orchestrator.orchestrator import DEFAULT_FIRST_AGENT_MESSAGE
            from tau2.registry import registry
        except ImportError as error:
            raise not_installed("tau2-bench", "tau2", INSTALL) from error
        self.name = f"tau2:{domain}"
        self._domain = domain
        self._user_lm, self._judge_lm = user, judge if judge is not None else user
        self._registry = registry
        try:
            self._tasks = {task.id: task for task in registry.get_tasks_loader(domain)(split)}
            environment = registry.get_env_constructor(domain)()
        except FileNotFoundError as error:
            raise InputError(
                f"{self.name}: {error.filename} is missing; set TAU2_DATA_DIR to the checkout's data"
            ) from error
        self.tasks = [_task(task) for task in self._tasks.values()]
        self.policy: str = environment.get_policy()
        self.tools = catalogue([tool.openai_schema for tool in environment.get_tools()])
        self.writes = frozenset(tool.name for tool in self.tools if _writes(environment, tool.name))
        self.now: str | None = None
        self._greeting = DEFAULT_FIRST_AGENT_MESSAGE
        self.greeting: str = DEFAULT_FIRST_AGENT_MESSAGE.content
        self._task: Any = None
        _lead()

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        """See `Environment.reset`."""
        from tau2.data_model import message
        from tau2.user.user_simulator import UserSimulator

        task_of(self.tasks, task_id, self.name)
        speaker = Speaker(required(self._user_lm, "a user"), trial)
        self._task = self._tasks[task_id]
        environment = self._registry.get_env_constructor(self._domain)()
        if (start := self._task.initial_state) is not None:
            environment.set_state(start.initialization_data, start.initialization_actions, [])
        user = UserSimulator(llm=speaker.lm.model, instructions=str(self._task.user_scenario), llm_args={})
        self._talk = Conversation(message, environment, user, speaker, self._greeting)
        return self._talk.opening

    def _judged(self, talk: Conversation, why: Termination) -> tuple[float, dict[str, Any]]:
        from tau2.data_model.simulation import SimulationRun, TerminationReason
        from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation

        reasons = {"agent_stop": TerminationReason.AGENT_STOP, "error": TerminationReason.TOO_MANY_ERRORS}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
        run = SimulationRun(
            id=str(uuid.uuid4()),
            task_id=self._task.id,
            start_time=stamp,
            end_time=stamp,
            duration=0.0,
            termination_reason=reasons.get(why, TerminationReason.USER_STOP),
            messages=talk.messages,
        )
        with speaking(Speaker(required(self._judge_lm, "a judge"), talk.speaker.trial, "judge")):
            result = evaluate_simulation(run, self._task, EvaluationType.ALL, False, self._domain)
        return float(result.reward), reward_details(result.model_dump(mode="json"))


def _lead() -> None:
    from tau2.data_model.message import AssistantMessage
    from tau2.evaluator import evaluator_nl_assertions
    from tau2.user import user_simulator

    def answer(speaker: Speaker, model: str, messages: list[Any], **rest: Any) -> Any:
        text = speaker([{"role": one.role, "content": one.content} for one in messages])
        # an empty message is no message there
        return AssistantMessage(role="assistant", content=text or "...")

    lead_to_speaker(user_simulator, "generate", answer)
    lead_to_speaker(evaluator_nl_assertions, "generate", answer)


def _task(task: Any) -> EnvTask:
    criteria = task.evaluation_criteria
    actions = [one for one in (criteria.actions or ()) if one.requestor == "assistant"] if criteria else []
    return EnvTask(
        id=task.id,
        gold=tuple(ToolCall(name=one.name, arguments=one.arguments) for one in actions),
        outputs=tuple((criteria.communicate_info or ()) if criteria else ()),
    )


def _writes(environment: Any, tool: str) -> bool:
    return environment.tools.tool_type(tool).value == "write" or tool.startswith("transfer")


# -- pure translation, nothing installed


def reward_details(reward_info: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a reward (DB, COMMUNICATE, NL_ASSERTION) by name, each 0 or 1."""
    parts = reward_info.get("reward_breakdown") or {}
    return {"checks": {str(name).lower(): bool(value) for name, value in parts.items()}}
