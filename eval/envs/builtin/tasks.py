"""The tasks: who calls, what they want, what they answer, and the calls that are right."""

from __future__ import annotations

import json
from functools import cache
from typing import Literal, get_args

from pydantic import Field

from eval.envs.builtin.database import FOLDER
from eval.envs.protocol import EnvTask, Record
from prefine_dspy.errors import InputError
from prefine_dspy.types import Memory, ToolCall

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)


class Script(Record):
    """One task with the lines of its user.

    Args:
        id: unique.
        group: "plain", "look-up", "preference", "conflict", "release" (blocked, with another way out), "refusal" (the
            right end changes nothing) or "transfer".
        split: "train" and "dev" are for compiling programs, "test" for scoring compiled ones. Fixed for each task;
            tasks with a gold call in common are in one split.
        customer: id of the caller.
        opening: the user's first words.
        answers: by slot (`eval.envs.builtin.listening.SLOTS`), what the user says when asked, and only then.
        choices: by slot, the value that the answer stands for: a proposal with another one is corrected.
        refused: what the user says when told that it cannot be, in this order; then they give in.
        then: further requests, one after the other, each made when the one before is settled.
        gold: calls that change what has to be changed, in order.
        outputs: words that the agent must say.
        memory: what former sessions taught about this user; covers what `answers` would say, but for a wish that the
            opening states otherwise.
    """

    id: str
    group: str
    split: Split
    customer: str
    opening: str
    answers: dict[str, str] = Field(default_factory=dict)
    choices: dict[str, str] = Field(default_factory=dict)
    refused: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    gold: tuple[ToolCall, ...] = ()
    outputs: tuple[str, ...] = ()
    memory: Memory = Memory()

    def task(self) -> EnvTask:
        return EnvTask(id=self.id, group=self.group, memory=self.memory, gold=self.gold, outputs=self.outputs)


@cache
def scripts() -> dict[str, Script]:
    """All tasks by id, in order of difficulty."""
    stored = json.loads((FOLDER / "tasks.json").read_text(encoding="utf-8"))
    found = [Script.model_validate(one) for one in stored]
    return {one.id: one for one in found}


def chosen(names: str) -> list[str]:
    """The ids of some tasks.

    Args:
        names: splits and groups with ":" between, in any order: "test", "preference", "train:preference"; "" is all.

    Raises:
        InputError: there is no such split or group, or nothing is in all of them.
    """
    left = list(scripts().values())
    groups = list(dict.fromkeys(one.group for one in left))
    for name in names.split(":") if names else []:
        if name not in (*SPLITS, *groups):
            raise InputError(
                f"builtin has no split or group {name!r}; splits: {', '.join(SPLITS)}; groups: {', '.join(groups)}"
            )
        left = [one for one in left if name in (one.split, one.group)]
    if not left:
        raise InputError(f"builtin has no task that is {names.replace(':', ' and ')}: leave one of them out")
    return [one.id for one in left]
