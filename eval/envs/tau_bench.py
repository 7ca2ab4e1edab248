"""tau-bench (Yao et al. 2024, version 1): 50 airline and 115 retail tasks, judged without an LM.

The repository's own steps, tools, data and reward; the user is played by the LM the caller names, under the
repository's own prompt. What is translated here is tested on recorded runs without the repository.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import dspy

from eval.envs.episode import Episode, EpisodeStep
from eval.envs.missing import not_installed
from eval.envs.protocol import Action, EnvTask, Observation, Reply, Step, Stop, Termination, task_of
from eval.envs.speaker import Speaker, current_speaker, required, speaking
from prefine_dspy.errors import InputError
from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.types import ToolCall

INSTALL = "pip install --no-deps git+https://github.com/sierra-research/tau-bench"
STOP_TOKEN = "###STOP###"
TRANSFER_TOOL = "transfer_to_human_agents"
_READS = ("get_", "find_", "search_", "list_")
_PURE = frozenset({"calculate", "think"})
_ERRORS = ("Error:", "Unknown action")
_NOW = re.compile(r"current time is (\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)", re.IGNORECASE)


class TauUser(Protocol):
    """A user as tau-bench talks to it."""

    def reset(self, instruction: str | None = None) -> str:
        """The first words, given what the user wants."""
        ...

    def step(self, content: str) -> str:
        """The answer to a message; with the stop token in it, the last one."""
        ...

    def get_total_cost(self) -> float:
        """US dollars so far."""
        ...


class TauBench:
    """One domain of tau-bench.

    Args:
        domain: "airline" or "retail".
        user: an LM that plays the user, or a user of one's own.
        split: "test" is the published one; retail has "train" and "dev", too.

    Raises:
        InputError: tau-bench is not installed, or has no such split.
    """

    greeting = ""
    max_steps = 30

    def __init__(
        self, domain: Literal["airline", "retail"], user: dspy.BaseLM | TauUser | None = None, split: str = "test"
    ) -> None:
        # litellm fetches a price list from the network while it is imported
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            from tau_bench.envs import get_env
        except ImportError as error:
            raise not_installed("tau-bench", "tau_bench", INSTALL) from error
        self.name = f"tau:{domain}" if split == "test" else f"tau:{domain}:{split}"
        try:
            # the "human" user asks nobody before it is used; with an index given, no task is drawn at random
            self._env = get_env(domain, user_strategy="human", user_model="", task_split=split, task_index=0)
        except ValueError as error:
            raise InputError(f"{self.name}: {error}; tau:airline and tau:retail exist") from error
        self._user = user
        self.tasks = [
            EnvTask(
                id=str(number),
                gold=tuple(ToolCall(name=one.name, arguments=one.kwargs) for one in task.actions),
                outputs=tuple(task.outputs),
            )
            for number, task in enumerate(self._env.tasks)
        ]
        self.policy: str = self._env.wiki
        self.tools = catalogue(self._env.tools_info)
        self.writes = frozenset(tool.name for tool in self.tools if is_write(tool.name))
        self.now = time_in(self.policy)
        self._speaker: Speaker | None = None
        self._running = False

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        """See `Environment.reset`."""
        task_of(self.tasks, task_id, self.name)
        if self._user is None or isinstance(self._user, dspy.BaseLM):
            self._speaker = Speaker(required(self._user, "a user"), trial)
            self._env.user = _lm_user()
        else:
            self._env.user = self._user
        with speaking(self._speaker):
            first = self._env.reset(task_index=int(task_id))
        self._running = True
        return user_observation(first.observation)

    def step(self, action: Action) -> Step:
        """See `Environment.step`. tau-bench knows no agent that hangs up: its database is judged as it is then."""
        if not self._running:
            raise RuntimeError("no episode is under way: call reset(task_id) first")
        if isinstance(action, Stop):
            self._running = False
            if action.text:
                self._env.actions.append(_native(Reply(text=action.text)))
            result = self._env.calculate_reward()
            return Step(
                observation=None,
                reward=float(result.reward),
                done=True,
                termination="agent_stop",
                details=reward_details(result.model_dump()),
            )
        with speaking(self._speaker):
            response = self._env.step(_native(action))
        step = translated(action, response.observation, response.done, response.reward, _info(response))
        self._running = not step.done
        return step

    def close(self) -> None:
        """See `Environment.close`."""
        self._running = False


def _native(action: ToolCall | Reply) -> Any:
    from tau_bench.types import RESPOND_ACTION_FIELD_NAME, RESPOND_ACTION_NAME
    from tau_bench.types import Action as TauAction

    if isinstance(action, Reply):
        return TauAction(name=RESPOND_ACTION_NAME, kwargs={RESPOND_ACTION_FIELD_NAME: action.text})
    # "respond" is how a reply is spelt there; as a tool it does not exist
    name = "respond (no such tool)" if action.name == RESPOND_ACTION_NAME else action.name
    return TauAction(name=name, kwargs=action.arguments)


def _info(response: Any) -> dict[str, Any] | None:
    # the reward is computed once, inside the step that ends the episode; asked again it would judge the gold database
    return response.info.reward_info.model_dump() if response.info.reward_info else None


def _lm_user() -> Any:
    from tau_bench.envs.user import LLMUserSimulationEnv

    class SpokenUser(LLMUserSimulationEnv):
        """tau-bench's own user with its own prompt; what it says comes from the speaker."""

        def __init__(self) -> None:
            self.messages: list[dict[str, Any]] = []
            self.total_cost = 0.0

        def generate_next_message(self, messages: list[dict[str, Any]]) -> str:
            text = current_speaker()(messages)
            self.messages.append({"role": "assistant", "content": text})
            return text

    return SpokenUser()


# -- pure translation, nothing installed


def is_write(tool: str) -> bool:
    """Whether a tool changes something, by its name: tau-bench does not say."""
    return not tool.startswith(_READS) and tool not in _PURE


def time_in(policy: str) -> str | None:
    """The time that the policy states: the airline's does, the retailer's does not."""
    found = _NOW.search(policy)
    return found[1].replace(" ", "T") if found else None


def user_observation(text: str) -> Observation:
    """The user's words without the token that ends a conversation."""
    return Observation(source="user", text=text.replace(STOP_TOKEN, "").strip())


def tool_observation(call: ToolCall, text: str) -> Observation:
    """A tool's return; tau-bench marks errors by how the text begins."""
    return Observation(source="tool", text=text, call=call, error=text.startswith(_ERRORS))


def translated(
    action: ToolCall | Reply, text: str, done: bool, reward: float, reward_info: Mapping[str, Any] | None
) -> Step:
    """The step that tau-bench's answer stands for.

    Args:
        action: what was done.
        text: tau-bench's observation.
        done, reward: as it says; its reward is 0 until the end.
        reward_info: its `RewardResult` as JSON, at the end.
    """
    observation = tool_observation(action, text) if isinstance(action, ToolCall) else user_observation(text)
    if not done:
        return Step(observation=observation)
    why: Termination = "transfer" if isinstance(action, ToolCall) else "user_stop"
    left = observation if observation.text or isinstance(action, ToolCall) else None
    return Step(
        observation=left, reward=float(reward), done=True, termination=why, details=reward_details(reward_info or {})
    )


def reward_details(reward_info: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a reward. With outputs to say, tau-bench keeps the verdict on these only: where the reward is 0
    all the same, the database differed."""
    info = reward_info.get("info") or {}
    if "outputs" in info:
        said = dict(info["outputs"])
        checks: dict[str, Any] = {"outputs": all(said.values())}
        if all(said.values()):
            checks["database"] = bool(reward_info.get("reward"))
        return {"checks": checks, "outputs_said": said}
    return {"checks": {"database": bool(info.get("r_actions"))}} if info else {}


def recorded_episode(record: Mapping[str, Any], *, gold: tuple[ToolCall, ...] = ()) -> Episode:
    """A recorded run as an episode.

    Args:
        record: `domain, task_id, trial, reward, messages`, as tau-bench's historical trajectories have them (there:
            `traj`), without or with the system message.
        gold: of the task, when known.
    """
    domain = record.get("domain", "airline")
    messages = [one for one in record.get("messages") or record.get("traj") or () if one["role"] != "system"]
    steps: list[EpisodeStep] = []
    ended: Termination = "max_steps"
    for number, message in enumerate(messages[1:], start=1):
        if message["role"] != "assistant":
            continue
        action = _recorded_action(message)
        after = messages[number + 1] if number + 1 < len(messages) else None
        observation = _recorded_answer(action, after)
        steps.append(EpisodeStep(action=action, observation=observation))
        if after is not None and after["role"] == "user" and STOP_TOKEN in (after["content"] or ""):
            ended = "user_stop"
        elif isinstance(action, ToolCall) and action.name == TRANSFER_TOOL:
            ended = "transfer"
    names = {call.name for step in steps if isinstance(call := step.action, ToolCall)}
    return Episode(
        environment=f"tau:{domain}",
        task_id=str(record["task_id"]),
        trial=int(record.get("trial") or 0),
        opening=user_observation(messages[0]["content"] or ""),
        steps=tuple(steps),
        reward=float(record["reward"]),
        termination=ended,
        gold=gold,
        outputs=tuple(record.get("outputs") or ()),
        writes=tuple(sorted(name for name in names | {call.name for call in gold} if is_write(name))),
    )


def _recorded_action(message: Mapping[str, Any]) -> ToolCall | Reply:
    if calls := message.get("tool_calls"):
        function = calls[0]["function"]
        try:
            arguments = json.loads(function["arguments"] or "{}")
        except ValueError:
            arguments = {}
        return ToolCall(name=function["name"], arguments=arguments if isinstance(arguments, dict) else {})
    return Reply(text=message.get("content") or "")


def _recorded_answer(action: ToolCall | Reply, after: Mapping[str, Any] | None) -> Observation | None:
    if after is None or after["role"] == "assistant":
        return None
    text = after["content"] or ""
    return tool_observation(action, text) if isinstance(action, ToolCall) else user_observation(text)
