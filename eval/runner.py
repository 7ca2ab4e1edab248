"""The loop: memories first, then queries; parallel over histories, in order inside one.

The runner asks each need of an LM once. What is done is on disk before the next thing is begun, so that it can be
killed at any moment; `RunFolder` and `CallCache` hold what a later process needs to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, NamedTuple, TypeVar

import dspy

from eval.call_cache import CallCache, installed
from eval.failures import ErrorStreak
from eval.instance import Benchmark, Instance
from eval.items import ItemRunner, ItemTask
from eval.memories import MemoryBuilder, MemoryTask
from eval.progress import PhaseProgress
from eval.run_folder import RunFolder
from eval.tables import summarise
from eval.tokens import counting
from programs.system import System

ERRORS_IN_A_ROW = 5
Task = TypeVar("Task", MemoryTask, ItemTask)


class LeaveTaskError(Exception):
    """Raised inside a worker to leave its task between two units of work."""


class Work(NamedTuple):
    """What a run has to do.

    Args:
        systems: by label, in order.
        benchmark: its histories, catalogues and preference slots are used; its instances are not.
        instances: the chosen ones.
        lm: the inference LM.
        memory_lm: the LM of memory updates.
    """

    systems: dict[str, System]
    benchmark: Benchmark
    instances: list[Instance]
    lm: dspy.BaseLM
    memory_lm: dspy.BaseLM

    def histories(self) -> dict[str, list[Instance]]:
        """The chosen instances by history, both in the order of first appearance."""
        grouped: dict[str, list[Instance]] = {}
        for instance in self.instances:
            grouped.setdefault(instance.history_id, []).append(instance)
        return grouped

    def memory_tasks(self) -> list[MemoryTask]:
        return [
            MemoryTask(label, system, self.benchmark.histories[history])
            for label, system in self.systems.items()
            if system.builds_memory
            for history in self.histories()
        ]

    def item_tasks(self) -> list[ItemTask]:
        return [
            ItemTask(label, system, self.benchmark.histories[history], instances)
            for label, system in self.systems.items()
            for history, instances in self.histories().items()
        ]


def run(
    folder: RunFolder,
    work: Work,
    *,
    num_threads: int = 1,
    max_calls: int | None = None,
    errors_in_a_row: int = ERRORS_IN_A_ROW,
) -> dict[str, Any]:
    """Do what is left of a run and write its summary.

    Args:
        folder: open for writing.
        num_threads: histories worked on at once.
        max_calls: limit of LM calls over the run and its resumptions; None for none.
        errors_in_a_row: this many passing LM errors one after the other stop the run.

    Returns:
        The summary.

    Raises:
        BudgetExhausted, InputError, LMErrorsInARowError: the run stopped; what is done is kept.
        KeyboardInterrupt: likewise, on Ctrl-C.
    """
    streak = ErrorStreak(errors_in_a_row)
    counter = counting(work.lm)
    with installed(CallCache(folder.answers, max_calls)) as cache:
        tasks = work.memory_tasks()
        tools = work.benchmark.catalogues["base"]
        builder = MemoryBuilder(folder.memories, work.memory_lm, cache, tools, counter.count, streak)
        void = builder.restore(tasks)
        total = sum(len(task.history.sessions) for task in tasks)
        if tasks:
            with PhaseProgress("memories", total, sum(builder.done.values()), "sessions") as progress:
                _in_parallel(tasks, builder.run, progress.advance, num_threads)
        answers = ItemRunner(folder.items, work.benchmark, builder.memories, work.lm, cache, counter.count, streak)
        answers.restore(void)
        total = len(work.systems) * len(work.instances)
        with PhaseProgress("items", total, len(answers.done), "items") as progress:
            _in_parallel(work.item_tasks(), answers.run, progress.advance, num_threads)
        summary = summarise(folder.items.read(), folder.memories.read())
        summary["lm_calls_started"] = cache.started_calls
        summary["memory_tokens_counted_by"] = counter.method
    folder.write_summary(summary)
    return summary


def _in_parallel(
    tasks: Iterable[Task],
    work: Callable[[Task, Callable[[], None]], None],
    advance: Callable[[], None],
    num_threads: int,
) -> None:
    """Run the tasks; the first exception, or Ctrl-C, lets the others finish the unit they are at and is raised."""
    stop = Event()

    def tick() -> None:
        advance()
        if stop.is_set():
            raise LeaveTaskError

    def one(task: Task) -> None:
        if stop.is_set():
            return
        try:
            work(task, tick)
        except LeaveTaskError:
            pass
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(max_workers=num_threads, thread_name_prefix="eval") as pool:
        futures: list[Future[None]] = [pool.submit(one, task) for task in tasks]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    for future in futures:
        future.result()
