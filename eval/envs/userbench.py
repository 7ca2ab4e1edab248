"""UserBench's TravelGym (Qian et al. 2025): trips with preferences that the user does not state.

Driven through its synchronous `step`: its asynchronous one fails where the user volunteers a preference. The LM that
the caller names classifies searches and questions and words the user's answers; options are judged by code. Its policy
and the ids of its test scenarios are in parquet files beside the package, or where TRAVELGYM_DATA_PATH says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from eval.envs.aspects import score
from eval.envs.missing import not_installed
from eval.envs.protocol import Action, EnvTask, Observation, Reply, Step, Stop, Termination, task_of
from eval.envs.speaker import Speaker, lead_to_speaker, required, speaking
from prefine_dspy.errors import InputError
from prefine_dspy.interop.catalogue import catalogue
from prefine_dspy.types import ToolCall

INSTALL = (
    "git clone https://github.com/SalesforceAIResearch/UserBench, then pip install gymnasium and "
    "pip install --no-deps -e UserBench"
)
SETS = ("22", "33", "44", "233", "333", "334", "444", "2222")
INITIALS = {"flight": "F", "apartment": "A", "rental_car": "C", "hotel": "H", "restaurant": "R"}
"""How the ids of an aspect's options begin."""
_ALL_OPTIONS = 10**6
_FAILED = ("backend is experiencing", "something wrong within your searching request", "response format is wrong")
_NOT_TAKEN = ("Invalid option ID", "You have already recommended", "You have chosen multiple options")
_CHOICES_AS_TOOLS = """

In this conversation the three choices are: the tool `search` with a query, the tool `answer` with an option's id, and \
a plain message, which goes to the user (`action`)."""
_TOOLS = [
    {
        "name": "search",
        "description": "One focused, detailed query to the database, about one travel aspect.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "the aspect and all its arguments"}},
            "required": ["query"],
        },
    },
    {
        "name": "answer",
        "description": "Recommend one option of one travel aspect to the user.",
        "parameters": {
            "type": "object",
            "properties": {"option_id": {"type": "string", "description": "e.g. F8"}},
            "required": ["option_id"],
        },
    },
]


class UserBench:
    """One set of scenarios.

    Args:
        scenarios: "22", "33", ... : how many preferences each aspect has.
        user: judges searches and questions, and words the user's answers.
        one_choice: one recommendation an aspect, the first counts (the benchmark's "single choice").

    Raises:
        InputError: UserBench or its data are not there, or it has no such set.
    """

    greeting = ""
    max_steps = 20
    now = None
    writes = frozenset({"answer"})

    def __init__(self, scenarios: str, user: dspy.BaseLM | None = None, one_choice: bool = True) -> None:
        if scenarios not in SETS:
            raise InputError(
                f"userbench has no set {scenarios!r}: choose {', '.join(f'userbench:{one}' for one in SETS)}"
            )
        try:
            import travelgym
            from travelgym.env import prompts
        except ImportError as error:
            raise not_installed("UserBench", "travelgym", INSTALL) from error
        self.name = f"userbench:{scenarios}" if one_choice else f"userbench:{scenarios}:many"
        self._policies = _policies(scenarios, one_choice, Path(travelgym.__file__).parent.parent)
        self._user_lm = user
        self.one_choice = one_choice
        lead_to_speaker(prompts, "model_call", _answer)
        config = travelgym.TravelGymConfig(
            data_mode="random",
            max_steps=self.max_steps,
            one_choice_per_aspect=one_choice,
            # its own evaluation loads scenarios one by one, where these settings do nothing
            wrong_choice_number=_ALL_OPTIONS,
            noise_choice_number=_ALL_OPTIONS,
        )
        try:
            self._env = travelgym.TravelEnv(config)
        except ValueError as error:
            raise InputError(f"{self.name}: {error}; UserBench needs its whole checkout") from error
        scenarios_by_id = {task["id"]: task for task in self._env.tasks if task["id"] in self._policies}
        self._scenarios = {name: scenarios_by_id[name] for name in self._policies if name in scenarios_by_id}
        self.tasks = [EnvTask(id=name) for name in self._scenarios]
        self.policy = next(iter(self._policies.values()), "") + _CHOICES_AS_TOOLS
        self.tools = catalogue(_TOOLS)
        self._speaker: Speaker | None = None
        self._preferences = 0
        self._running = False

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        """See `Environment.reset`."""
        task_of(self.tasks, task_id, self.name)
        self._speaker = Speaker(required(self._user_lm, "a user"), trial)
        self._env._get_next_task = lambda: self._scenarios[task_id]
        observation, _ = self._env.reset()
        self.policy = self._policies[task_id] + _CHOICES_AS_TOOLS
        # an answer takes an aspect's preferences off the list, so that its own ratio has a shrinking denominator
        self._preferences = len(self._env.remaining_preferences)
        self._running = True
        return Observation(source="user", text=observation["feedback"])

    def step(self, action: Action) -> Step:
        """See `Environment.step`."""
        if not self._running:
            raise RuntimeError("no episode is under way: call reset(task_id) first")
        if isinstance(action, ToolCall) and (refused := unusable(action)):
            return Step(observation=Observation(source="tool", text=refused, call=action, error=True))
        with speaking(self._speaker):
            found, reward, terminated, truncated, _ = self._env.step(native_text(action))
        observation = translated(action, str(found["feedback"]))
        aspects = grades(self._env.current_task, self._env.state_list)
        details = {
            "native_reward": float(reward),
            "aspects": aspects,
            "preferences": {
                "total": self._preferences,
                "active": self._env.state_list["active_elicited_preferences"],
                "passive": self._env.state_list["passive_elicited_preferences"],
            },
        }
        if not (terminated or truncated):
            return Step(observation=observation, details=details)
        self._running = False
        why: Termination = "agent_stop" if isinstance(action, Stop) else "env_done" if terminated else "max_steps"
        return Step(observation=observation, reward=score(aspects), done=True, termination=why, details=details)

    def close(self) -> None:
        """See `Environment.close`."""
        self._running = False


def _answer(speaker: Speaker, system_prompt: str, user_prompt: str, model_config: Mapping[str, Any]) -> Any:
    from travelgym.env.utils import parse_output_as_json

    return parse_output_as_json(
        speaker([{"role": "system", "content": system_prompt}, {"role": "user", "content": user_prompt}])
    )


def _policies(scenarios: str, one_choice: bool, checkout: Path) -> dict[str, str]:
    """By test scenario, its system message."""
    import pandas as pd

    folder = Path(os.environ.get("TRAVELGYM_DATA_PATH") or checkout / "data")
    file = folder / f"travel{scenarios}_multiturn{'_onechoice' if one_choice else ''}" / "test.parquet"
    if not file.is_file():
        raise InputError(f"userbench:{scenarios}: {file} is missing; set TRAVELGYM_DATA_PATH to the checkout's data")
    rows = pd.read_parquet(file).to_dict("records")
    return {str(row["reward_model"]["id"]): str(row["prompt"][0]["content"]) for row in rows}


# -- pure translation, nothing installed


def unusable(call: ToolCall) -> str:
    """Why a call is none of the two tools; "" when it is one. TravelGym would not be asked."""
    argument = {"search": "query", "answer": "option_id"}.get(call.name)
    if argument is None:
        return f"Error: there is no tool {call.name}; there are search and answer"
    return "" if isinstance(call.arguments.get(argument), str) else f"Error: {call.name} needs {argument} as text"


def native_text(action: Action) -> str:
    """An action as TravelGym reads it."""
    if isinstance(action, Stop):
        return "[finish]"
    if isinstance(action, Reply):
        return f"[action] {action.text}"
    if action.name == "search":
        return f"[search] {action.arguments['query']}"
    return f"[answer] {action.arguments['option_id'].strip()}"


def translated(action: Action, feedback: str) -> Observation | None:
    """TravelGym's feedback: words of the user and of the database alike, so that the action says whose they are."""
    if isinstance(action, Stop):
        return None
    if isinstance(action, Reply):
        return Observation(source="user", text=feedback)
    error = any(mark in feedback for mark in _FAILED) or feedback.startswith(_NOT_TAKEN)
    return Observation(source="tool", text=feedback, call=action, error=error)


def grades(scenario: Mapping[str, Any], state: Mapping[str, Sequence[Any]]) -> dict[str, str | None]:
    """By aspect, the best that was recommended: "best", "correct", "wrong", or None when nothing was.

    Args:
        scenario: with `dimensions` and, by dimension under `preferences`, `best_id` and `correct_ids` (which hold the
            best one, too).
        state: TravelGym's `state_list`: options still to be found, and initials of the aspects answered.
    """
    found: dict[str, str | None] = {}
    for aspect in scenario["dimensions"]:
        about = scenario["preferences"].get(aspect, {})
        right = set(about.get("correct_ids", ())) - {about.get("best_id")}
        if about.get("best_id") not in state["remaining_best_options"]:
            found[aspect] = "best"
        elif right - set(state["remaining_correct_options"]):
            found[aspect] = "correct"
        else:
            found[aspect] = "wrong" if INITIALS.get(aspect) in state["choice_initials"] else None
    return found
