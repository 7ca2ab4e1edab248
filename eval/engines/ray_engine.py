"""`--engine ray`: the groups of a run on a Ray cluster; the journals are written here, in the process of the run.

Ray's processes listen on network ports, also those of a cluster on one machine: use it where nobody else reaches them.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, NamedTuple

from eval.engines.ledger import Ledger
from eval.engines.ray_worker import RayWorker, Sent
from eval.engines.work import Event, Line, Stopped, Unit, journals_of, settled
from eval.failures import Failure
from eval.run_folder import RunFolder
from eval.runner import LeaveGroupError
from eval.tasks.attempt import RunGuard
from eval.tasks.task import Phase, Task
from prefine_dspy.errors import InputError, MissingExtra, PrefineError

MOST_DEATHS = 3  # workers that may die of one group
OBJECT_STORE_BYTES = 256 * 1024 * 1024  # of a cluster on this machine; what does not fit goes to the disk
_STOPPING = "the run is being stopped"
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class RayEngine:
    """Runs groups on the workers of a cluster.

    Args:
        make_task: makes the run's task on a worker's machine: what it names (data, programs, LMs) has to be there.
        address: of a running cluster ("host:6379", "ray://...", "auto"); None starts one on this machine and ends it
            afterwards.

    Raises:
        MissingExtra: Ray is not installed.
    """

    def __init__(self, make_task: Callable[[], Task], address: str | None = None) -> None:
        self._ray = _import_ray()
        self._make_task = make_task
        self._address = address

    @contextmanager
    def opened(self, folder: RunFolder, guard: RunGuard, workers: int) -> Iterator[Callable[[int, Phase], Phase]]:
        """The cluster for one run.

        Args:
            folder: of the run; only this process writes its journals.
            guard: of the run: its budget holds for all workers together, LM errors in a row count over all of them.
            workers: as many processes, each with one CPU.

        Returns:
            A function that turns the phase of that number into one whose groups are done by the workers.

        Raises:
            InputError: no cluster at the address, or one with fewer CPUs.
        """
        with self._cluster(workers):
            yield _Placing(self._ray, self._make_task, folder, guard, workers)

    @contextmanager
    def _cluster(self, workers: int) -> Iterator[None]:
        if self._ray.is_initialized():  # by whoever called us
            _check_cpus(self._ray, workers)
            yield
            return
        # the paths of its sockets must be short
        files = tempfile.mkdtemp(prefix="ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
        local = {
            "num_cpus": workers,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
            "_node_ip_address": "127.0.0.1",
            "_temp_dir": files,
        }
        try:
            with _own_signals():
                self._init({} if self._address else local)
            _check_cpus(self._ray, workers)
            yield
        finally:
            self._ray.shutdown()
            shutil.rmtree(files, ignore_errors=True)

    def _init(self, options: dict[str, Any]) -> None:
        before = {name: os.environ.get(name) for name in _QUIET}
        os.environ.update({name: os.environ.get(name, value) for name, value in _QUIET.items()})
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level="ERROR", **options)
        except Exception as error:  # on a busy machine, a bare one
            reason = " ".join(str(error).split())[:200]
            where = f"the Ray cluster at {self._address} cannot be used" if self._address else "Ray cannot be started"
            raise InputError(f"{where}: {reason}: give another --ray-address, or --engine local") from None
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)


class _Worker(NamedTuple):
    name: str
    actor: Any


class _Placing:
    """Gives the groups of phases to workers."""

    def __init__(
        self, ray: Any, make_task: Callable[[], Task], folder: RunFolder, guard: RunGuard, workers: int
    ) -> None:
        self._ray = ray
        self._make_task = make_task
        self._folder = folder
        self._journals = journals_of(folder)
        self._guard = guard
        self._names = itertools.count(1)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        # begun anew, it finds the answers and the count on the disk
        options = {"num_cpus": 0, "scheduling_strategy": here, "max_restarts": -1, "max_task_retries": -1}
        path = str(folder.answers.resolve())
        self._ledger = ray.remote(Ledger).options(**options).remote(path, guard.cache.max_calls)
        self._sending = threading.Lock()
        self._sent = Sent(0, [])
        self._idle: SimpleQueue[_Worker | None] = SimpleQueue()  # None: one that is not begun yet
        for _ in range(workers):
            self._idle.put(None)

    def __call__(self, number: int, phase: Phase) -> Phase:
        self._send_lines()

        def run(at: int, tick: Callable[[], None]) -> None:
            self._group(number, at, tick)

        return phase._replace(groups=range(len(phase.groups)), run=run)

    def _group(self, number: int, at: int, tick: Callable[[], None]) -> None:
        """Have one group finished, by another worker when one dies of it."""
        for _ in range(MOST_DEATHS):
            worker = self._idle.get() or self._begin()
            try:
                self._watch(worker.actor.group.remote(number, self._sent, at), tick)
            except self._ray.exceptions.RayActorError as death:
                last = " ".join(str(death).split())[:200]
                self._bury(worker)
                self._idle.put(None)
                self._send_lines()
            except BaseException:
                self._idle.put(worker)
                raise
            else:
                self._idle.put(worker)
                return
        raise PrefineError(
            f"{MOST_DEATHS} workers died one after the other on the same group ({last}): "
            "go on with fewer --num-threads and --resume, or with --engine local"
        )

    def _send_lines(self) -> None:
        """Let workers see all lines up to now. What a dead one did of its group is among them, and whoever goes on with
        it, a new worker or one that has been at other groups, has to know."""
        with self._sending:
            version = self._sent.version + 1
            self._sent = Sent(version, [self._ray.put(settled(self._folder))])

    def _watch(self, stream: Any, tick: Callable[[], None]) -> None:
        """Write down what a worker tells of its group."""
        try:
            for told in stream:
                self._take(self._ray.get(told), tick)
        except self._ray.exceptions.RayActorError:
            raise
        except BaseException:
            # the run ends: the answer that the worker waits for is to be stored, but nothing more be asked
            self._ray.get(self._ledger.stop.remote(_STOPPING))
            for told in stream:
                self._ray.wait([told])
            raise

    def _take(self, event: Event, tick: Callable[[], None]) -> None:
        if isinstance(event, Line):
            self._journals[event.journal].append(event.record)
            if "error" in event.record:
                self._guard.streak.record(_failure(event.record))
        elif isinstance(event, Unit):
            tick()
        elif isinstance(event, Stopped):
            if event.message == _STOPPING:  # by another group, which says why
                raise LeaveGroupError
            raise event.error()

    def _begin(self) -> _Worker:
        name = f"worker-{next(self._names)}"
        kind = self._ray.remote(RayWorker)
        actor = kind.options(num_cpus=1, max_restarts=0).remote(
            self._make_task, str(self._folder.path.resolve()), self._ledger, name
        )
        return _Worker(name, actor)

    def _bury(self, worker: _Worker) -> None:
        self._ray.kill(worker.actor)
        self._ray.get(self._ledger.forget.remote(worker.name))


def _failure(record: dict[str, Any]) -> Failure | None:
    error = record["error"]
    return Failure("lm_error", error["kind"], error["message"], error["retry"]) if error else None


def _check_cpus(ray: Any, workers: int) -> None:
    """A worker that finds no CPU would wait for ever."""
    there = int(ray.cluster_resources().get("CPU", 0))
    if there < workers:
        raise InputError(f"the Ray cluster has {there} CPUs, each worker takes one: give --num-threads {max(1, there)}")


def _import_ray() -> Any:
    try:
        with _own_signals():
            import ray
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    return ray


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray answers SIGTERM by an exit; a run lets its calls in flight finish."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
