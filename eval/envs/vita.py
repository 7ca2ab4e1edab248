"""VitaBench (He et al. 2025): delivery, in-store, OTA and cross-domain life services, graded by rubrics.

Driven through its own environments, user and trajectory evaluator; user and judge are played by the LMs the caller
names. Tool returns are records, not JSON.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, Literal, cast

import dspy

from eval.envs.conversation import Conversation, Conversing
from eval.envs.missing import not_installed
from eval.envs.protocol import EnvTask, Observation, Termination, task_of
from eval.envs.speaker import Speaker, lead_to_speaker, required, speaking
from prefine_dspy.errors import InputError
from prefine_dspy.interop.catalogue import catalogue

INSTALL = "git clone https://github.com/meituan-longcat/vitabench, then pip install -e vitabench"
DOMAINS = {"delivery": "delivery", "instore": "instore", "ota": "ota", "cross": "delivery,instore,ota"}
"""Names here, and what VitaBench calls the environment."""


class VitaBench(Conversing):
    """One domain of VitaBench.

    Args:
        domain: "delivery", "instore", "ota" or "cross".
        user: plays the user.
        judge: grades the rubrics; the user's LM when None.
        language: "chinese" is the benchmark's own default.

    Raises:
        InputError: VitaBench or the domain's data are not there, or it has no such domain.
    """

    max_steps = 300

    def __init__(
        self,
        domain: str,
        user: dspy.BaseLM | None = None,
        judge: dspy.BaseLM | None = None,
        language: Literal["chinese", "english"] = "english",
    ) -> None:
        if domain not in DOMAINS:
            raise InputError(f"vita has no domain {domain!r}: choose {', '.join(f'vita:{one}' for one in DOMAINS)}")
        try:
            from vita.orchestrator.orchestrator import get_default_first_agent_message
            from vita.registry import registry
        except ImportError as error:
            raise not_installed("VitaBench", "vita", INSTALL) from error
        self.name = f"vita:{domain}" if language == "english" else f"vita:{domain}:{language}"
        self._domain, self._language = DOMAINS[domain], language
        self._user_lm, self._judge_lm = user, judge if judge is not None else user
        self._registry = registry
        loader = registry.get_tasks_loader("cross_domain" if domain == "cross" else domain)
        try:
            self._tasks = {str(task.id): task for task in loader(language)}
        except FileNotFoundError as error:
            raise InputError(f"{self.name}: {error.filename} is missing; VitaBench needs its whole checkout") from error
        self.tasks = [EnvTask(id=name) for name in self._tasks]
        self._greeting = get_default_first_agent_message(language)
        self.greeting: str = self._greeting.content
        self.now: str | None = None
        self._enter(next(iter(self._tasks.values())))
        self._task: Any = None
        _lead()

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        """See `Environment.reset`."""
        from vita.data_model import message
        from vita.user.user_simulator import UserSimulator

        task_of(self.tasks, task_id, self.name)
        speaker = Speaker(required(self._user_lm, "a user"), trial)
        self._task = self._tasks[task_id]
        user = UserSimulator(
            persona=str(self._task.user_scenario.user_profile),
            instructions=str(self._task.instructions),
            llm=speaker.lm.model,
            llm_args={},
            language=self._language,
        )
        self._talk = Conversation(message, self._enter(self._task), user, speaker, self._greeting)
        return self._talk.opening

    def _enter(self, task: Any) -> Any:
        """A fresh environment of a task; its policy and tools are now the attributes."""
        from vita.data_model.tasks import Location, ProductBaseModel, StoreBaseModel
        from vita.environment.environment import get_cross_environment
        from vita.utils.utils import get_weekday

        # goods and places of the task before live on in the thread, and would be found
        for model in (StoreBaseModel, ProductBaseModel, Location):
            model.clear_thread_data()
        if "," in self._domain:
            environment = get_cross_environment(self._domain, task.environment, self._language)
        else:
            environment = self._registry.get_env_constructor(self._domain)(task.environment, self._language)
        moment = str(task.environment.get("time", ""))
        self.now = moment.replace(" ", "T") or None
        weekday = get_weekday(moment, self._language) if moment else ""
        self.policy = environment.get_policy().format(time=f"{moment} {weekday}".strip())
        self.tools = catalogue([tool.openai_schema for tool in environment.get_tools()])
        self.writes = frozenset(tool.name for tool in self.tools if _writes(environment, tool.name))
        return environment

    def _judged(self, talk: Conversation, why: Termination) -> tuple[float, dict[str, Any]]:
        from vita.data_model.simulation import SimulationRun, TerminationReason
        from vita.evaluator.evaluator import evaluate_simulation
        from vita.orchestrator.orchestrator import Orchestrator

        reasons = {"agent_stop": TerminationReason.AGENT_STOP, "error": TerminationReason.TOO_MANY_ERRORS}
        database = talk.environment.tools.db
        stamp = time.strftime("%Y%m%d_%H%M%S")
        for number, message in enumerate(talk.messages):
            message.turn_idx = number
        run = SimulationRun(
            id=str(uuid.uuid4()),
            task_id=str(self._task.id),
            start_time=stamp,
            end_time=stamp,
            duration=0.0,
            termination_reason=reasons.get(why, TerminationReason.USER_STOP),
            messages=talk.messages,
            # a method that asks nothing of its orchestrator
            states=Orchestrator.get_states(cast(Any, None), database, database.time),
        )
        judge = required(self._judge_lm, "a judge")
        with speaking(Speaker(judge, talk.speaker.trial, "judge")):
            result = evaluate_simulation(
                run,
                self._task,
                cast(Any, "trajectory"),
                self._domain,
                llm_evaluator=judge.model,
                llm_args_evaluator={},
                language=self._language,
            )
        return float(result.reward), reward_details(result.model_dump(mode="json"))


def _lead() -> None:
    from vita.data_model.message import AssistantMessage
    from vita.evaluator import evaluator_traj
    from vita.user import user_simulator

    def answer(speaker: Speaker, model: str, messages: list[Any], **rest: Any) -> Any:
        text = speaker([{"role": one.role, "content": one.content} for one in messages])
        return AssistantMessage(role="assistant", content=text or "...")

    lead_to_speaker(user_simulator, "generate", answer)
    lead_to_speaker(evaluator_traj, "generate", answer)


def _writes(environment: Any, tool: str) -> bool:
    return getattr(environment.tools.tool_type(tool), "value", "") == "write"


# -- pure translation, nothing installed


def reward_details(reward_info: Mapping[str, Any]) -> dict[str, Any]:
    """Rubrics met and in all: the paper's score may mean their share, or the episodes that met all of them."""
    rubrics = reward_info.get("nl_rubrics") or []
    if not rubrics:
        return {}
    met = [bool(one.get("met")) for one in rubrics]
    return {"rubrics": {"met": sum(met), "total": len(met)}, "checks": {"rubrics": all(met)}}
