"""Changes of one user wait for each other; those of different users do not; a death in the middle changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from store_sessions import accept, session

from prefine_dspy.store import PreferenceStore, StoreError
from prefine_dspy.types import Memory, MemoryUpdate, Session

HERE = str(Path(__file__).parent)

THOUSAND = """
import sys
from store_sessions import session
from prefine_dspy.store import PreferenceStore
from prefine_dspy.types import Memory, MemoryUpdate
def count(memory, sessions):
    return MemoryUpdate(memory=Memory(text=str(int(memory.text or 0) + 1), version=memory.version + 1), accepted=True)
with PreferenceStore(sys.argv[1], window=3) as store:
    for number in range(int(sys.argv[3])):
        store.update("ana", session(f"{sys.argv[2]}-{number}"), count)
"""

DYING = """
import os, signal, sys
from store_sessions import session
from prefine_dspy.store import PreferenceStore
def die(memory, sessions):
    print("in the updater", flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
PreferenceStore(sys.argv[1]).update("ana", session("lost"), die)
"""


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([HERE, os.getcwd()])
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def test_two_processes_a_thousand_updates_each_lose_nothing(tmp_path: Path) -> None:
    two_processes(f"sqlite:///{tmp_path / 'm.db'}", times=1000)


@pytest.mark.postgres
def test_two_processes_a_thousand_updates_each_lose_nothing_in_postgres(postgres_url: str) -> None:
    two_processes(postgres_url, times=1000)


def two_processes(url: str, times: int) -> None:
    children = [python(THOUSAND, url, name, str(times)) for name in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    with PreferenceStore(url) as store:
        memory = store.get("ana")
        assert memory.text == str(2 * times), "an update that read an old memory would have counted too few"
        assert memory.version == 2 * times
        assert sorted(memory.sessions) == sorted(f"{name}-{number}" for name in "ab" for number in range(times))
        for name in "ab":
            own = [one for one in memory.sessions if one.startswith(name)]
            assert own == [f"{name}-{number}" for number in range(times)], "in the order they were sent"
        assert [one.number for one in store.history("ana")] == list(range(1, 2 * times + 1))


def test_different_users_do_not_wait_for_each_other(store: PreferenceStore) -> None:
    both = threading.Barrier(8, timeout=20)

    def meet(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        both.wait()  # breaks unless all eight users are inside their updaters at the same time
        return accept(memory, sessions)

    users = [f"user{number}" for number in range(8)]
    in_threads([lambda user=user: store.update(user, session("s1"), meet) for user in users])
    assert [store.get(user).sessions for user in users] == [("s1",)] * 8


def test_one_users_threads_wait_for_each_other(store: PreferenceStore) -> None:
    inside = threading.Lock()

    def alone(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        assert inside.acquire(blocking=False), "two updates of one user at the same time"
        time.sleep(0.02)
        inside.release()
        return accept(memory, sessions)

    in_threads([lambda number=number: store.update("ana", session(f"s{number}"), alone) for number in range(6)])
    memory = store.get("ana")
    assert memory.version == 6 and len(memory.sessions) == 6


def test_a_user_may_be_read_and_others_changed_during_an_update(store: PreferenceStore) -> None:
    store.update("ana", session("s1"), accept)

    def look_around(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
        assert store.get("ana").text == "saw s1"
        store.correct("bo", "prefers the aisle")
        return accept(memory, sessions)

    store.update("ana", session("s2"), look_around)
    assert store.get("bo").text == "prefers the aisle"


def test_waiting_has_an_end(url: str) -> None:
    with PreferenceStore(url) as store, PreferenceStore(url, wait=0.2) as hasty:

        def meanwhile(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
            def correct() -> None:
                with pytest.raises(StoreError, match="within 0.2 seconds"):
                    hasty.correct("ana", "too late")

            in_threads([correct])
            return accept(memory, sessions)

        store.update("ana", session("s1"), meanwhile)
        hasty.correct("ana", "in time")
        assert store.get("ana").text == "in time"


def test_a_process_that_dies_in_an_update_leaves_the_old_version(url: str) -> None:
    with PreferenceStore(url, wait=20) as store:
        store.update("ana", session("s1"), accept)
        before = store.export("ana")
        child = python(DYING, url)
        assert child.stdout and child.stdout.readline().strip() == "in the updater"
        child.communicate("\n")
        assert child.returncode == -signal.SIGKILL
        assert store.export("ana") == before
        store.update("ana", session("s2"), accept)
        assert store.get("ana").sessions == ("s1", "s2"), "its lock went with it"


def in_threads(tasks: Sequence[object]) -> None:
    """Run all at once; the first failure of any is raised."""
    failures: list[BaseException] = []

    def run(task: object) -> None:
        try:
            task()  # type: ignore[operator]
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    if failures:
        raise failures[0]
