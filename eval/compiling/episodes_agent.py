"""A system of `programs` in the nouns of `eval.envs`: the library's own know no benchmark and no record."""

from __future__ import annotations

from typing import Any

from eval.envs import play
from eval.envs.protocol import Observation, Reply, Stop
from prefine_dspy import agents
from prefine_dspy.types import ToolCall
from programs.episode_system import EpisodeSystem


class Acting:
    """An agent for `eval.envs.play.play`.

    Args:
        system: a system whose task is "episodes".
        trial: which repetition: at a temperature above 0 its LM is asked anew in each.
    """

    def __init__(self, system: EpisodeSystem, trial: int = 0) -> None:
        self.system = system
        self.trial = trial

    def begin(self, briefing: play.Briefing) -> play.Act:
        """See `eval.envs.play.Agent.begin`."""
        act = self.system.begin(
            agents.Briefing(
                briefing.policy, briefing.tools, briefing.now, briefing.greeting, briefing.memory, self.trial
            )
        )

        def step(observation: Observation) -> play.Decision:
            seen = agents.Observation(
                source=observation.source, text=observation.text, call=observation.call, error=observation.error
            )
            decision = act(seen)
            return play.Decision(_action(decision.action), decision.notes)

        return step


def acting(system: EpisodeSystem, trial: int = 0) -> Acting:
    """The system as an agent that `play` can drive."""
    return Acting(system, trial)


def _action(action: agents.Action) -> Any:
    if isinstance(action, ToolCall):
        return action
    return Stop(text=action.text) if isinstance(action, agents.Stop) else Reply(text=action.text)
