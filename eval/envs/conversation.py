"""What tau2-bench and VitaBench share: messages of three kinds, control tokens in them, and a reward at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from eval.envs.protocol import Action, Observation, Step, Stop, Termination
from eval.envs.speaker import Speaker, speaking
from prefine_dspy.types import ToolCall

STOP_TOKEN = "###STOP###"
TRANSFER_TOKEN = "###TRANSFER###"
OUT_OF_SCOPE_TOKEN = "###OUT-OF-SCOPE###"
TOKENS = (STOP_TOKEN, TRANSFER_TOKEN, OUT_OF_SCOPE_TOKEN)
MAX_ERRORS = 10
"""Failed calls after which both end an episode without reward."""


def user_observation(text: str | None) -> Observation:
    """The user's words without control tokens."""
    left = text or ""
    for token in TOKENS:
        left = left.replace(token, "")
    return Observation(source="user", text=left.strip())


def tool_observation(call: ToolCall, text: str | None, error: bool) -> Observation:
    """A tool's return; both benchmarks say whether the call failed."""
    return Observation(source="tool", text=text or "", call=call, error=error)


def ending(text: str | None) -> Termination | None:
    """How a message of the user ends the conversation; None when it does not."""
    if TRANSFER_TOKEN in (text or ""):
        return "transfer"
    return "user_stop" if any(token in (text or "") for token in TOKENS) else None


class Conversation:
    """One episode: the agent's messages and calls on one side, the benchmark's user and tools on the other.

    Args:
        message: the benchmark's module of message types.
        environment: its environment, which answers calls.
        user: its user.
        speaker: what the user says.
        greeting: its first message of the agent.
    """

    def __init__(self, message: Any, environment: Any, user: Any, speaker: Speaker, greeting: Any) -> None:
        self.message, self.environment, self.user, self.speaker = message, environment, user, speaker
        self.state = user.get_init_state()
        self.messages: list[Any] = [greeting.model_copy(deep=True)]
        self.errors = 0
        self.opening = user_observation(self._hear())

    def act(self, action: Action) -> tuple[Observation | None, Termination | None]:
        """What an action leads to, and why it ends the episode; None while it goes on."""
        if isinstance(action, ToolCall):
            return self._call(action)
        # neither takes an empty message
        text = action.text.strip() or (STOP_TOKEN if isinstance(action, Stop) else "...")
        self.messages.append(self.message.AssistantMessage(role="assistant", content=text))
        if isinstance(action, Stop):
            return None, "agent_stop"
        said = self._hear()
        observation, why = user_observation(said), ending(said)
        return (observation if observation.text or why is None else None), why

    def _call(self, action: ToolCall) -> tuple[Observation, Termination | None]:
        call = self.message.ToolCall(id=f"call_{len(self.messages)}", name=action.name, arguments=action.arguments)
        self.messages.append(self.message.AssistantMessage(role="assistant", tool_calls=[call]))
        answer = self.environment.get_response(call)
        self.messages.append(answer)
        self.errors += answer.error
        observation = tool_observation(action, answer.content, answer.error)
        return observation, "error" if self.errors >= MAX_ERRORS else None

    def _hear(self) -> str:
        with speaking(self.speaker):
            said, self.state = self.user.generate_next_message(self.messages[-1], self.state)
        self.messages.append(said)
        return said.content or ""


class Conversing(ABC):
    """An environment whose episodes are conversations: `reset` opens one as `_talk`, its end is judged."""

    _talk: Conversation | None = None

    def step(self, action: Action) -> Step:
        """See `Environment.step`."""
        if self._talk is None:
            raise RuntimeError("no episode is under way: call reset(task_id) first")
        observation, why = self._talk.act(action)
        if why is None:
            return Step(observation=observation)
        reward, details = self._judged(self._talk, why)
        self._talk = None
        return Step(observation=observation, reward=reward, done=True, termination=why, details=details)

    def close(self) -> None:
        """See `Environment.close`."""
        self._talk = None

    @abstractmethod
    def _judged(self, talk: Conversation, why: Termination) -> tuple[float, dict[str, Any]]:
        """The reward of a conversation that ended, and what the benchmark says of it."""
