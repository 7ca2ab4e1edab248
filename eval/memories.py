"""MPT's first phase: one memory for each history and program, built session by session, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import dspy

from eval.journal import Journal
from eval.run_config import SCHEMA_VERSION
from eval.tasks.attempt import RunGuard
from eval.tasks.task import Phase
from eval.tokens import TokenCounter
from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory
from programs.system import MemoryUpdate, System

Key = tuple[str, str]  # (label of the program, history id)


class MemoryTask(NamedTuple):
    """One history to be remembered by one program; the unit that a worker takes."""

    label: str
    system: System
    history: History

    @property
    def key(self) -> Key:
        return self.label, self.history.id


class MemoryBuilder:
    """Runs memory tasks and keeps what they wrote.

    Args:
        journal: memories.jsonl.
        lm: the memory LM.
        guard: of the run.
        tools: the catalogue that updates see; never the extended one (appendix D.6).
        count: tokens of a memory's text.
    """

    def __init__(
        self, journal: Journal, lm: dspy.BaseLM, guard: RunGuard, tools: Catalogue, count: TokenCounter
    ) -> None:
        self.journal = journal
        self.lm = lm
        self.guard = guard
        self.tools = tools
        self.count = count
        self.memories: dict[Key, Memory] = {}
        self.done: dict[Key, int] = {}

    def restore(self, tasks: list[MemoryTask]) -> set[Key]:
        """Take over the updates that a former process finished.

        A passing LM error makes all later updates of its history void, because they were made from a memory that
        lacks a session: from there on the history is done again.

        Returns:
            The histories whose memory is not complete: items of theirs are void. That includes those which an earlier
            process began to do again and did not finish, whose errors are no longer in the file.
        """
        sessions = {task.key: [session.id for session in task.history.sessions] for task in tasks}
        void: set[Key] = set()
        kept = []
        for record in self.journal.read():
            key = (str(record.get("program")), str(record.get("history_id")))
            if key in void:
                continue
            if (record.get("error") or {}).get("retry"):
                void.add(key)
                continue
            index = self.done.get(key, 0)
            if key not in sessions or sessions[key][index : index + 1] != [record.get("session_id")]:
                raise InputError(f"{self.journal.path} does not fit its config.json: give another --out")
            self.memories[key] = Memory.model_validate(record["memory"])
            self.done[key] = index + 1
            kept.append(record)
        if void:
            self.journal.replace(kept)
        return {key for key, ids in sessions.items() if self.done.get(key, 0) < len(ids)}

    def phase(self, tasks: list[MemoryTask]) -> Phase:
        """The tasks as a phase of the run."""
        total = sum(len(task.history.sessions) for task in tasks)
        return Phase("memories", "sessions", total, sum(self.done.values()), tasks, self.run)

    def run(self, task: MemoryTask, tick: Callable[[], None]) -> None:
        """Finish one history's memory; `tick` is called after each session and may raise to end the work there."""
        with self.guard.asking(self.lm):
            memory = self.memories.get(task.key, Memory())
            for index in range(self.done.get(task.key, 0), len(task.history.sessions)):
                memory = self._session(task, index, memory)
                self.memories[task.key] = memory
                self.done[task.key] = index + 1
                tick()

    def _session(self, task: MemoryTask, index: int, memory: Memory) -> Memory:
        seen = task.history.sessions[: index + 1]
        attempt = self.guard.attempt(lambda: task.system.update(memory, seen, self.tools))
        failure = attempt.failure
        update = attempt.answer or MemoryUpdate(memory=memory, accepted=False)
        record: dict[str, Any] = {
            "v": SCHEMA_VERSION,
            "program": task.label,
            "history_id": task.history.id,
            "session_id": seen[-1].id,
            "session": index + 1,
            "status": failure.status if failure else "ok",
            "accepted": update.accepted,
            "memory": update.memory.model_dump(mode="json"),
            "memory_tokens": self.count(update.memory.text),
            "parse_failures": update.parse_failures + bool(failure and failure.status == "parse_error"),
            "attempts": update.attempts,
            "usage": attempt.usage.as_json(),
            "seconds": round(attempt.seconds, 4),
            "error": failure.as_json() if failure else None,
        }
        self.journal.append(record)
        self.guard.streak.record(failure)
        return update.memory
