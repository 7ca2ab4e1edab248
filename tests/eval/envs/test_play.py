from __future__ import annotations

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError, LMTransportError

from eval.envs.builtin import BuiltinEnvironment
from eval.envs.builtin.tasks import scripts
from eval.envs.episode import Episode, LmUsage
from eval.envs.play import Act, Briefing, Decision, play
from eval.envs.protocol import Observation, Reply
from eval.usage import current_usage, measured
from prefine_dspy.errors import BudgetExhausted, InputError
from prefine_dspy.types import ToolCall


class Agent:
    """Says the same thing until it raises."""

    def __init__(self, error: Exception | None = None, after: int = 0) -> None:
        self.error = error
        self.after = after
        self.briefings: list[Briefing] = []

    def begin(self, briefing: Briefing) -> Act:
        self.briefings.append(briefing)
        left = self.after

        def act(observation: Observation) -> Decision:
            nonlocal left
            if (usage := current_usage()) is not None:
                usage.lm_calls += 1
                usage.input_tokens += 10
            if self.error is not None and not left:
                raise self.error
            left -= 1
            return Decision(ToolCall.of("get_fare_rules", fare="flex"), notes={"left": left})

        return act


def test_the_limit_on_steps_ends_an_episode_without_reward() -> None:
    episode = play(BuiltinEnvironment(), Agent(), "no-cancel", max_steps=3)
    assert (episode.reward, episode.termination, len(episode.steps)) == (0.0, "max_steps", 3)
    assert episode.steps[0].notes == {"left": -1} and episode.steps[0].agent is None


def test_the_agent_is_briefed_and_remembers_only_when_told() -> None:
    agent, environment = Agent(), BuiltinEnvironment()
    for remember in (False, True):
        play(environment, agent, "usual-ada", remember=remember, max_steps=1)
    first, second = agent.briefings
    assert first.policy == environment.policy and first.tools is environment.tools and first.now == environment.now
    assert not first.memory.text and second.memory == scripts()["usual-ada"].memory


def test_what_the_agent_used_is_measured_by_step() -> None:
    with measured() as usage:
        episode = play(BuiltinEnvironment(), Agent(), "meal", max_steps=2)
    assert [step.agent for step in episode.steps] == [LmUsage(lm_calls=1, input_tokens=10)] * 2
    assert [step.environment for step in episode.steps] == [LmUsage()] * 2
    assert usage.lm_calls == 2


def test_an_agent_that_cannot_go_on_has_lost() -> None:
    error = AdapterParseError("ChatAdapter", dspy.Signature("a -> b"), "?")
    episode = play(BuiltinEnvironment(), Agent(error, after=1), "no-cancel")
    assert (episode.reward, episode.termination, len(episode.steps)) == (0.0, "error", 1)
    assert episode.error.startswith("AdapterParseError")


@pytest.mark.parametrize("error", [LMTransportError("gone"), BudgetExhausted("spent")])
def test_what_may_pass_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        play(BuiltinEnvironment(), Agent(error), "meal")


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(InputError, match="no task 'nothing'"):
        play(BuiltinEnvironment(), Agent(), "nothing")


def test_episodes_survive_json() -> None:
    episode = play(BuiltinEnvironment(), Agent(), "usual-eva", max_steps=2)
    assert Episode.model_validate_json(episode.model_dump_json()) == episode
    said = episode.model_copy(
        update={"steps": (episode.steps[0].model_copy(update={"action": Reply(text="Hm")}),), "greeting": "Hello."}
    )
    assert Episode.model_validate_json(said.model_dump_json()) == said
    assert [one["role"] for one in said.messages()] == ["assistant", "user", "assistant", "user"]
