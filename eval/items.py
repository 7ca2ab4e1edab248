"""The second phase: one answer for each instance and program, scored and written down."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dspy

from eval.call_cache import CallCache
from eval.data.load import catalogue_of
from eval.failures import ErrorStreak, Failure, classify
from eval.grading import grade
from eval.instance import Benchmark, Instance
from eval.journal import Journal
from eval.memories import Key
from eval.run_config import SCHEMA_VERSION
from eval.tokens import TokenCounter
from eval.usage import measured
from prefine_dspy.types import History, Memory, ToolCall
from programs.system import System


class ItemTask(NamedTuple):
    """The queries of one history for one program; a worker walks them, so that prompts that start alike follow
    each other and the LM's prefix cache is warm."""

    label: str
    system: System
    history: History
    instances: list[Instance]


class ItemRunner:
    """Runs item tasks.

    Args:
        journal: items.jsonl.
        benchmark: gives the catalogues and the preference slots.
        memories: what the first phase built, by (program, history); a program without one gets the empty memory.
        lm: the inference LM.
        cache: counts and guards its calls.
        count: tokens of a memory's text.
        streak: stops the run when LM errors follow each other.
    """

    def __init__(
        self,
        journal: Journal,
        benchmark: Benchmark,
        memories: dict[Key, Memory],
        lm: dspy.BaseLM,
        cache: CallCache,
        count: TokenCounter,
        streak: ErrorStreak,
    ) -> None:
        self.journal = journal
        self.benchmark = benchmark
        self.memories = memories
        self.lm = lm
        self.cache = cache
        self.count = count
        self.streak = streak
        self.done: set[tuple[str, str]] = set()

    def restore(self, void: set[Key]) -> None:
        """Take over the items that a former process finished, without those to be asked again: a passing LM error,
        or a memory (in `void`) that is being rebuilt."""
        records = self.journal.read()
        kept = [
            r for r in records if (r["program"], r["history_id"]) not in void and not (r["error"] or {}).get("retry")
        ]
        if len(kept) < len(records):
            self.journal.replace(kept)
        self.done = {(record["program"], record["id"]) for record in kept}

    def run(self, task: ItemTask, tick: Callable[[], None]) -> None:
        """Answer what is open of one history; `tick` is called after each item and may raise to end the work there."""
        with dspy.context(lm=self.lm, callbacks=[*(dspy.settings.callbacks or []), self.cache], disable_history=True):
            for instance in task.instances:
                if (task.label, instance.id) not in self.done:
                    self._item(task, instance)
                    tick()

    def _item(self, task: ItemTask, instance: Instance) -> None:
        memory = self.memories.get((task.label, task.history.id), Memory())
        tools = catalogue_of(self.benchmark, instance)
        failure: Failure | None = None
        prediction: Any = None
        started = time.perf_counter()
        with measured() as usage:
            try:
                prediction = task.system.answer(instance.query, tools, task.history, memory)
            except Exception as error:
                self._stop_if_asked()
                failure = classify(error)
            self._stop_if_asked()
        seconds = time.perf_counter() - started
        calls, raw, parse_failed = _parts(prediction)
        graded = grade(instance, calls, self.benchmark.preference_slots, failure, parse_failed, tools)
        # a program that shows the LM something else than the memory's text (retrieved notes, the history) says so
        shown = getattr(prediction, "memory_text", None)
        shown = memory.text if shown is None else str(shown)
        record: dict[str, Any] = {
            "v": SCHEMA_VERSION,
            "program": task.label,
            "id": instance.id,
            "history_id": task.history.id,
            "query_type": instance.query_type,
            "reasoning_type": instance.reasoning_type,
            "preference": instance.preference,
            "schema": instance.schema_name,
            "contested": instance.contested,
            "evidence": instance.evidence.model_dump() if instance.evidence else None,
            "status": graded.status,
            "calls": [call.model_dump(mode="json") for call in calls],
            "raw": raw,
            "problems": _problems(prediction),
            "gold": [call.model_dump(mode="json") for call in instance.gold],
            "scores": graded.scores,
            "memory": memory.text,
            "memory_tokens": self.count(shown),
            "usage": usage.as_json(),
            "seconds": round(seconds, 4),
            "error": failure.as_json() if failure else None,
        }
        self.journal.append(record)
        self.streak.record(failure)

    def _stop_if_asked(self) -> None:
        if self.cache.stop is not None:
            raise self.cache.stop


def _parts(prediction: Any) -> tuple[list[ToolCall], str, bool]:
    """Calls, raw text and parse flag of a prediction; an exception left none of them."""
    if prediction is None:
        return [], "", False
    calls = [call for call in (getattr(prediction, "calls", None) or []) if isinstance(call, ToolCall)]
    raw = getattr(prediction, "raw", "")
    return calls, raw if isinstance(raw, str) else str(raw), bool(getattr(prediction, "parse_failed", False))


def _problems(prediction: Any) -> list[Any]:
    """Why a program dropped parts of its answer, if it says so."""
    found = getattr(prediction, "problems", None) or []
    return [one._asdict() if hasattr(one, "_asdict") else str(one) for one in found]
