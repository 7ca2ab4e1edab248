"""The loop: the phases of a benchmark one after the other, the groups of a phase in parallel, the units of a group in
order.

The runner asks each need of an LM once. What is done is on disk before the next thing is begun, so that it can be
killed at any moment; `RunFolder` and `CallCache` hold what a later process needs to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any

from eval.call_cache import CallCache, installed
from eval.engines.engine import Engine, ThisProcess
from eval.failures import ErrorStreak
from eval.progress import PhaseProgress
from eval.run_folder import RunFolder
from eval.tasks.attempt import RunGuard
from eval.tasks.task import Phase, Task

ERRORS_IN_A_ROW = 5


class LeaveGroupError(Exception):
    """Raised inside a worker to leave its group between two units of work."""


def run(
    folder: RunFolder,
    task: Task,
    *,
    num_threads: int = 1,
    max_calls: int | None = None,
    errors_in_a_row: int = ERRORS_IN_A_ROW,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Do what is left of a run and write its summary.

    Args:
        folder: open for writing.
        task: what there is to do.
        num_threads: groups worked on at once.
        max_calls: limit of LM calls over the run and its resumptions; None for none.
        errors_in_a_row: this many passing LM errors one after the other stop the run.
        engine: where groups are worked on; None for this process.

    Returns:
        The summary.

    Raises:
        BudgetExhausted, InputError, LMErrorsInARowError: the run stopped; what is done is kept.
        KeyboardInterrupt: likewise, on Ctrl-C.
    """
    with installed(CallCache(folder.answers, max_calls)) as cache:
        guard = RunGuard(cache, ErrorStreak(errors_in_a_row))
        with (engine or ThisProcess()).opened(folder, guard, num_threads) as place:
            for number, phase in enumerate(task.phases(folder, guard)):
                with PhaseProgress(phase.name, phase.total, phase.done, phase.unit) as progress:
                    _in_parallel(place(number, phase), progress.advance, num_threads)
        summary = {**task.summary(folder), "lm_calls_started": cache.started_calls}
    folder.write_summary(summary)
    return summary


def _in_parallel(phase: Phase, advance: Callable[[], None], num_threads: int) -> None:
    """Run the groups; the first exception, or Ctrl-C, lets the others finish the unit they are at and is raised."""
    stop = Event()

    def tick() -> None:
        advance()
        if stop.is_set():
            raise LeaveGroupError

    def one(group: Any) -> None:
        if stop.is_set():
            return
        try:
            phase.run(group, tick)
        except LeaveGroupError:
            pass
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(max_workers=num_threads, thread_name_prefix="eval") as pool:
        futures: list[Future[None]] = [pool.submit(one, group) for group in phase.groups]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    for future in futures:
        future.result()
