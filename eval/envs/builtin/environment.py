"""The airline as an environment."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

from eval.envs.builtin.database import FOLDER, NOW, Database, database_hash, fresh_database
from eval.envs.builtin.desk import WRITES, Desk
from eval.envs.builtin.rules import broken_rules
from eval.envs.builtin.tasks import Script, scripts
from eval.envs.builtin.user import ScriptedUser
from eval.envs.outputs import said_outputs
from eval.envs.protocol import Action, Observation, Reply, Step, Stop, Termination, task_of
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall


class BuiltinEnvironment:
    """Kestrel Air. The reward is 1 when the database ends as the task's gold calls would leave it and the agent has
    said what it had to say, else 0. Trials of one task do not differ: the user is scripted.

    Args:
        only: ids of the tasks to offer; all when None.

    Attributes:
        version: a hash over database, tasks and policy as they ship.

    Raises:
        InputError: there is no such task.
    """

    name = "builtin"
    now: str | None = NOW
    greeting = ""
    max_steps = 40
    writes = WRITES

    def __init__(self, only: Sequence[str] | None = None) -> None:
        known = scripts()
        if unknown := sorted(set(only or ()) - known.keys()):
            raise InputError(f"builtin has no task {unknown[0]!r}; it has {', '.join(known)}")
        self._scripts = {name: one for name, one in known.items() if only is None or name in only}
        self.tasks = [script.task() for script in self._scripts.values()]
        self.policy = (FOLDER / "policy.md").read_text(encoding="utf-8")
        self.tools = Desk({}).catalogue()
        self.version = _version()
        self._episode: _Episode | None = None

    def reset(self, task_id: str, *, trial: int = 0) -> Observation:
        """See `Environment.reset`."""
        task_of(self.tasks, task_id, self.name)
        self._episode = _Episode(self._scripts[task_id])
        return Observation(source="user", text=self._scripts[task_id].opening)

    def step(self, action: Action) -> Step:
        """See `Environment.step`."""
        if self._episode is None:
            raise RuntimeError("no episode has begun: call reset(task_id) first")
        step = self._episode.step(action)
        if step.done:
            self._episode = None
        return step

    def close(self) -> None:
        """See `Environment.close`."""
        self._episode = None


class _Episode:
    """One task under way."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.desk = Desk(fresh_database())
        customer = self.desk.database["customers"][script.customer]
        self.user = ScriptedUser(script, customer["email"], customer["name"])
        self.said: list[str] = []

    def step(self, action: Action) -> Step:
        if isinstance(action, ToolCall):
            return self._call(action)
        self.said.append(action.text)
        if isinstance(action, Stop):
            return self._end("agent_stop", None)
        return self._reply(action)

    def _reply(self, action: Reply) -> Step:
        answer = self.user.listen(action.text)
        observation = Observation(source="user", text=answer.text)
        details: dict[str, Any] = {"asked": list(answer.asked)}
        if answer.leaves:
            return self._end("user_stop", observation, details)
        return Step(observation=observation, details=details)

    def _call(self, call: ToolCall) -> Step:
        before: Database = self.desk.database
        if call.name in WRITES:
            # the rules are about the state that the call found
            self.desk = Desk(copy.deepcopy(before))
        text, failed = self.desk.call(call)
        details: dict[str, Any] = {
            "asked": []
        }  # said at every step, so that an episode without questions counts as such
        if call.name in WRITES and not failed:
            details["violations"] = broken_rules(before, call, self.script.customer)
        observation = Observation(source="tool", text=text, call=call, error=failed)
        if call.name == "transfer_to_human" and not failed:
            return self._end("transfer", observation, details)
        return Step(observation=observation, details=details)

    def _end(self, why: Termination, last: Observation | None, details: dict[str, Any] | None = None) -> Step:
        checks = {
            "database": database_hash(self.desk.database) == gold_hash(self.script),
            "outputs": said_outputs(self.script.outputs, self.said),
        }
        return Step(
            observation=last,
            reward=float(all(checks.values())),
            done=True,
            termination=why,
            details={**(details or {}), "checks": checks},
        )


def gold_hash(script: Script) -> str:
    """The hash of a fresh database after the task's gold calls."""
    desk = Desk(fresh_database())
    for call in script.gold:
        text, failed = desk.call(call)
        if failed:
            raise ValueError(f"gold call {call} of task {script.id} fails: {text}")
    return database_hash(desk.database)


def _version() -> str:
    parts = [(FOLDER / name).read_bytes() for name in ("world.json", "tasks.json", "policy.md")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
