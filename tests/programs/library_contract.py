"""What has to hold of every memory library, whatever it does inside."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMTransportError

from prefine_dspy.errors import BudgetExhausted
from prefine_dspy.types import History, Memory, MemoryUpdate, Query
from programs.system import System
from tests.eval.scripted_run import ScriptedEngine, scripted_run, tiny_benchmark
from tests.programs.library_answers import cached_lm, obedient
from tests.scripted_lm import Script, lm_of
from tests.small_world import SESSIONS, TOOLS

Make = Callable[[], System]


def built(system: System, script: Script | None = None, memory: Memory | None = None) -> list[MemoryUpdate]:
    """The updates over the small world's sessions; each memory has been a line of JSON in between."""
    memory, updates = memory or Memory(), []
    with dspy.context(lm=lm_of(script or Script(obedient))):
        for seen in range(len(memory.sessions) + 1, len(SESSIONS) + 1):
            updates.append(system.update(memory, SESSIONS[:seen], TOOLS))
            memory = Memory.model_validate_json(updates[-1].memory.model_dump_json())
    return updates


def asked(system: System, memory: Memory, script: Script) -> dspy.Prediction:
    with dspy.context(lm=lm_of(script)):
        return system.answer(Query.of("Book me a flight"), TOOLS, History(id="h", sessions=SESSIONS), memory)


def check_that_memories_are_a_function_of_what_was_read(make: Make) -> None:
    """Two systems write the same, and one goes on from what another wrote down."""
    first, second = built(make()), built(make())
    assert first == second
    assert built(make(), memory=first[0].memory) == first[1:]


def check_that_an_lm_error_ends_the_update(make: Make) -> None:
    """However the library takes it: nothing is written, and no further call is made."""
    script = Script(lambda request: LMTransportError("nobody is there", model="scripted/script"))
    with dspy.context(lm=lm_of(script)), pytest.raises(LMTransportError):
        make().update(Memory(), SESSIONS[:1], TOOLS)
    assert len(script.requests) == 1


def check_that_a_stopped_run_goes_on_to_the_same_memories(make: Make, folder: Path) -> None:
    """Stopped after each number of LM calls, in the middle of updates too, and resumed."""
    benchmark = tiny_benchmark(histories=2, sessions=3, queries=1)
    run: dict[str, Any] = {"benchmark": benchmark, "resume": True}
    whole = Script(obedient)
    scripted_run(folder / "whole", ScriptedEngine(), systems={"it": make()}, lm=cached_lm(whole), **run)
    parts = Script(obedient)
    for calls in range(1, len(whole.requests)):
        with pytest.raises(BudgetExhausted):
            systems = {"it": make()}
            scripted_run(
                folder / "parts", ScriptedEngine(), systems=systems, lm=cached_lm(parts), max_calls=calls, **run
            )
    scripted_run(folder / "parts", ScriptedEngine(), systems={"it": make()}, lm=cached_lm(parts), **run)
    assert _memories(folder / "parts") == _memories(folder / "whole")
    assert len(parts.requests) == len(whole.requests), "an LM call was paid twice"
    usage = [line["usage"]["lm_calls"] for line in _lines(folder / "whole")]
    assert sum(usage) == len(whole.requests) - len(benchmark.instances)


def check_that_a_killed_build_goes_on_to_the_same_memories(name: str, folder: Path) -> None:
    """Killed at calls, between lines and inside them, the memories are those of an undisturbed run: ids and all. There
    is nothing to leave out of the comparison, since no note has a random id or a time."""
    script = Path(__file__).with_name("killed_build.py")
    command = [sys.executable, str(script), name, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(script.parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["killed"] >= 6
    assert _memories(folder / "parts") == _memories(folder / "whole")
    assert len(_lines(folder / "parts")) == len(_lines(folder / "whole")) == 9
    assert any(memory["notes"] for memory in _memories(folder / "whole").values())


def check_that_nothing_leaves_the_folder(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection, no look-up of a name, no file at home, none left in the folder."""
    asked_for: list[Any] = []

    def refuse(*address: Any, **_: Any) -> None:
        asked_for.append(address)
        raise OSError("no network here")

    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: refuse(address))
    system: Any = make()
    system.folder = tmp_path / "stores"
    updates = built(system)
    asked(system, updates[-1].memory, Script(obedient))
    assert asked_for == []
    assert list(home.iterdir()) == []
    assert list(system.folder.iterdir()) == []


def last(update: MemoryUpdate) -> dict[str, Any]:
    """The counts of an update."""
    return update.attempts[-1]


def _lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines()]


def _memories(folder: Path) -> dict[tuple[str, str], Any]:
    return {(line["history_id"], line["session_id"]): line["memory"] for line in _lines(folder)}
