"""LMs that know the built-in airline's tasks: what an agent has to do, not how it has to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agent_world import STATE, Fields, asked
from dspy import lm15
from scripted_lm import Script

from eval.envs.builtin.tasks import Script as Task
from eval.envs.builtin.tasks import scripts


def action(task: Task, calls: int) -> dict[str, Any]:
    """What to do next when so many calls have been made."""
    if calls < len(task.gold):
        call = task.gold[calls]
        return {"function": call.name, "arguments": call.arguments}
    if task.group == "refusal":
        return {"reply": "I am sorry, this is not possible."}
    said = f"It is {task.outputs[0]}. " if task.outputs else ""
    return {"reply": f"{said}It is done. Is there anything else?"}


class OneTask(Fields):
    """Plays one task to its end."""

    def __init__(self, task_id: str, **values: Any) -> None:
        task = scripts()[task_id]
        super().__init__((action(task, calls) for calls in range(99)), **values)


class KnowingDesk(Script):
    """Plays every task, told apart by its opening in the prompt: for agents that show all of the dialogue.

    Args:
        able: whether it does the right thing, by the task and the request; else it only says hello.
    """

    def __init__(self, able: Callable[[Task, lm15.Request], bool]) -> None:
        self.able = able
        super().__init__(self._play)

    def _play(self, request: lm15.Request) -> dict[str, Any]:
        last = request.messages[-1].text or ""
        task = next((one for one in scripts().values() if one.opening in last), None)
        if task is None:  # an optimizer asks for something else
            return {name: f"my {name}" for name in asked(request)}
        calls = len(re.findall(r"^(?:result|error): |^\d+\. \w+\(", last, re.MULTILINE))
        todo = action(task, calls) if self.able(task, request) else {"reply": "Hello."}
        return {
            name: todo if name == "action" else STATE if shape.get("type") == "object" else f"my {name}"
            for name, shape in asked(request).items()
        }


def demonstrated(request: lm15.Request) -> bool:
    """Whether a prompt has demonstrations."""
    return len(request.messages) > 1
