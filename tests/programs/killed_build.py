"""Builds memories in processes that die by SIGKILL, each at another point, and once in peace. A script, so that it may
fork: `python killed_build.py NAME FOLDER`, with the checkout in PYTHONPATH."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dspy import lm15

from eval.journal import Journal
from programs import load_system
from tests.eval.scripted_run import ScriptedEngine, scripted_run, tiny_benchmark
from tests.programs.library_answers import cached_lm, obedient
from tests.scripted_lm import Script

POINTS = ("line 1", "half 1", "line 2", "half 2", "call 2", "half 1", "call 3", "line 1", "call 1")
"""Before the LM's n-th answer, after the n-th line of a journal, in the middle of it."""
MOMENTS = 3
"""Further processes that die at random moments."""
Answer = Callable[[lm15.Request], Any]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(point: str) -> Answer:
    """Prepares this process to die; returns what answers for its LM."""
    what, _, number = point.partition(" ")
    left = [int(number)]

    def now() -> bool:
        left[0] -= 1
        return left[0] == 0

    def answer(request: lm15.Request) -> Any:
        if what == "call" and now():
            die()
        return obedient(request)

    append = Journal.append

    def append_and_die(journal: Journal, record: dict[str, Any]) -> None:
        last = what != "call" and now()
        if last and what == "half":
            line = json.dumps(record).encode("utf-8")
            with open(journal.path, "ab") as file:
                file.write(line[: len(line) // 2])
                file.flush()
                die()
        append(journal, record)
        if last:
            die()

    Journal.append = append_and_die  # type: ignore[method-assign]
    return answer


def build(name: str, out: Path, dies: str | float | None = None) -> None:
    """Args:
    dies: one of `POINTS`, or after so many seconds; None for not at all.
    """
    if isinstance(dies, float):
        threading.Timer(dies, die).start()
    scripted_run(
        out,
        ScriptedEngine(),
        systems={"it": load_system(name)},
        benchmark=tiny_benchmark(histories=3, sessions=3, queries=1),
        lm=cached_lm(Script(dying(dies) if isinstance(dies, str) else obedient)),
    )


def in_a_child(*arguments: Any) -> bool:
    """`build` there; whether it was killed. A child that fails by itself ends the script."""
    if not (child := os.fork()):
        build(*arguments)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a build failed by itself with status {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


def main(name: str, folder: Path) -> None:
    load_system(name)  # imports its library once
    in_a_child(name, folder / "whole")
    killed = [in_a_child(name, folder / "parts", point) for point in POINTS]
    chance = random.Random(7)
    for _ in range(MOMENTS):
        in_a_child(name, folder / "parts", chance.uniform(0.0, 0.3))
    in_a_child(name, folder / "parts")
    print(json.dumps({"killed": sum(killed)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
