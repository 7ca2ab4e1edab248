"""Agents that know the built-in tasks by heart and ask an LM at every step all the same, and an environment whose user
and judge are LMs, for the tests of runs on episodes. As a script it runs itself, and can be killed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError
from scripted_run import ScriptedEngine, killed_until_done, scripted_lm

from eval.envs.builtin.tasks import Script, scripts
from eval.envs.protocol import Action, EnvTask, Observation, Reply, Step, Stop
from eval.envs.speaker import Speaker, required
from eval.run_config import LMConfig, ProgramConfig, RunConfig, fingerprint
from eval.run_folder import RunFolder
from eval.runner import run
from eval.tasks import episodes
from prefine_dspy.agents.protocol import Act, Briefing, Decision
from prefine_dspy.interop.catalogue import catalogue

SLOTS = {"seat": "seat", "meal": "meal", "bags": "bags", "protection": "protection", "payment_id": "payment"}


class GoldSystem:
    """Does what the task wants, after asking for what is not remembered.

    Args:
        preferences: read the memory.
    """

    name = "gold"

    def __init__(self, preferences: bool = True) -> None:
        self.preferences = preferences
        self.program = dspy.Predict("text -> reply")

    def begin(self, briefing: Briefing) -> Act:
        todo: list[Action] = []
        step = 0

        def act(observation: Observation) -> Decision:
            nonlocal step
            if not step:
                todo.extend(self.plan(_script(observation.text), briefing))
            step += 1
            thought = self.program(text=f"{self.name} {briefing.trial} {step} {observation.text}").reply
            return Decision(self.action(todo, thought), {"unparsed": int(step == 1), "thought": thought, "stale": True})

        return act

    def action(self, todo: list[Action], thought: str) -> Action:
        return todo.pop(0) if todo else Stop(text="Goodbye.")

    def plan(self, script: Script, briefing: Briefing) -> list[Action]:
        known = {one.argument for one in briefing.memory.evidence} if self.preferences else set()
        wanted = [name for name, slot in SLOTS.items() if name in script.gold[0].arguments and slot in script.answers]
        asked = [SLOTS[name] for name in wanted if name not in known]
        lines = ["Please tell me your wishes for:", *(f"- {slot}" for slot in asked)]
        questions: list[Action] = [Reply(text="\n".join(lines))] if asked else []
        return [Reply(text="May I have your e-mail address?"), *questions, *script.gold, Reply(text="It is done.")]


class CarelessSystem(GoldSystem):
    """Hangs up at once in trials that its LM's first answer chooses."""

    name = "careless"

    def action(self, todo: list[Action], thought: str) -> Action:
        if len(todo) > 3 and int(thought, 16) % 2:
            todo.clear()
        return super().action(todo, thought)


class BrokenSystem(GoldSystem):
    """Its second answer can never be used; its notes are no JSON."""

    name = "broken"

    def begin(self, briefing: Briefing) -> Act:
        begun = super().begin(briefing)
        steps = 0

        def act(observation: Observation) -> Decision:
            nonlocal steps
            steps += 1
            decision = begun(observation)
            if steps == 2:
                raise AdapterParseError("ChatAdapter", dspy.Signature("a -> b"), "?")
            return decision._replace(notes={"half": "\udce9", "set": {1}, "unparsed": float("nan")})

        return act


SCRIPTED = {"gold": "GoldSystem", "careless": "CarelessSystem", "broken": "BrokenSystem"}


def _script(opening: str) -> Script:
    return next(one for one in scripts().values() if one.opening == opening)


class TalkingEnvironment:
    """Two tasks; an LM plays the user, another one judges at the end."""

    name, policy, now, greeting, max_steps, writes = "vita:delivery", "Be kind.", None, "", 5, frozenset({"get_x"})
    tasks = (EnvTask(id="a"), EnvTask(id="b"))

    def __init__(self, name: str, user_lm: dspy.BaseLM | None = None, judge_lm: dspy.BaseLM | None = None) -> None:
        self.tools = catalogue([{"name": "get_x", "description": "x", "parameters": {"type": "object"}}])
        self.user_lm, self.judge_lm = user_lm, judge_lm

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        self.trial, self.said = trial, 0
        return self._hear(f"{task_id} begins")

    def step(self, action: Action) -> Step:
        self.said += 1
        if self.said < 3:
            return Step(observation=self._hear(f"{self.said} {action}"))
        judge = Speaker(required(self.judge_lm, "a judge"), self.trial, "judge")
        for number in range(2):
            judge([{"role": "user", "content": f"rubric {number} {action}"}])
        rubrics = {"rubrics": {"met": 1, "total": 2}}
        return Step(observation=None, reward=0.0, done=True, termination="env_done", details=rubrics)

    def close(self) -> None:
        pass

    def _hear(self, text: str) -> Observation:
        user = Speaker(required(self.user_lm, "a user"), self.trial)
        return Observation(source="user", text=user([{"role": "user", "content": text}]))


class ChattySystem(GoldSystem):
    """Answers whatever it hears."""

    name = "chatty"

    def plan(self, script: Script, briefing: Briefing) -> list[Action]:
        raise AssertionError("it has no plan")

    def begin(self, briefing: Briefing) -> Act:
        return lambda observation: Decision(Reply(text=self.program(text=observation.text).reply))


def episodes_run(out: Path, engine: ScriptedEngine, *, num_threads: int = 1) -> dict[str, Any]:
    """One process's worth of a run on four tasks of the built-in environment, each played twice."""
    lm, system = scripted_lm(engine), CarelessSystem()
    chosen = episodes.load("builtin:preference", 4, 0, split=None, trials=2, max_steps=None)
    config = RunConfig(
        task="episodes",
        programs=[ProgramConfig(label="careless", name="careless", fingerprint=fingerprint(system.program))],
        lm=LMConfig.of("scripted", lm),
        memory_lm=LMConfig.of("scripted", lm),
        limit=4,
        seed=0,
        **chosen.config,
    )
    with RunFolder(out, config, resume=True) as folder:
        return run(folder, chosen.task({"careless": system}, lm, lm), num_threads=num_threads)


if __name__ == "__main__":
    out, log, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    print(json.dumps({"kills": killed_until_done(out, log, kills, seed, episodes_run)}))
