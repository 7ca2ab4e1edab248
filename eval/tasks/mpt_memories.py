"""`--memories RUN`: memories that another run built, taken over where nothing that decides them has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from eval.instance import Benchmark
from eval.journal import Journal, read_lines
from eval.memories import Key
from eval.run_config import FIRST_TASK, RunConfig, differences
from eval.run_folder import read_config
from eval.tasks.task import Record
from eval.tokens import TokenCounter
from prefine_dspy.errors import InputError
from prefine_dspy.types import Memory
from programs.system import System

_FORM = {
    **{"program": str, "history_id": str, "session_id": str, "session": int, "status": str, "accepted": bool},
    **{"memory": dict, "memory_tokens": int, "parse_failures": int, "attempts": list, "usage": dict},
}


class ReusedMemories(NamedTuple):
    """Args:
    run: the folder they are from.
    identity: a hash over that run's configuration.
    lines: of its memories.jsonl, by program and history, in the order of sessions.
    """

    run: Path
    identity: str
    lines: dict[Key, list[Record]]

    def take_over(self, journal: Journal, count: TokenCounter) -> None:
        """Write them into this run's journal, where they are not yet.

        A line says `reused`, its calls count as answered without being paid again, and its memory has the tokens of
        this run's counter. Killed between two lines, the next process writes the rest; what this run built itself
        stays.
        """
        ours: dict[Key, list[Record]] = {}
        for line in journal.read():
            ours.setdefault((line["program"], line["history_id"]), []).append(line)
        for key, theirs in self.lines.items():
            for line in theirs[_in_common(ours.get(key, []), theirs) :]:
                usage = {**line["usage"], "cached_calls": line["usage"].get("lm_calls", 0)}
                tokens = count(line["memory"].get("text", ""))
                journal.append({**line, "memory_tokens": tokens, "usage": usage, "reused": True})


def read_memories(
    run: Path, config: RunConfig, systems: Mapping[str, System], benchmark: Benchmark, theirs: Benchmark
) -> ReusedMemories:
    """The memories of another run that this one would build again.

    A history whose memory is not complete there is taken as far as it goes; programs and histories that are not there
    are left to be built.

    Args:
        run: the folder of the other run.
        config: of this run.
        systems: of this run, by label.
        benchmark: of this run.
        theirs: what this run's `--data` has under the schema of the other run (see `schema_of`).

    Raises:
        InputError: something that decides memories is not the same; the message names the first difference.
    """
    before = _config(run)
    now = config.model_dump(mode="json")
    labels = {one["label"]: one for one in before["programs"]}
    wanted = {label: system for label, system in systems.items() if label in labels and system.builds_memory}
    if not wanted:
        _refuse(run, f"it has {', '.join(labels)}, none of which is a program with a memory here", "leave it out")
    for program in now["programs"]:
        if program["label"] in wanted:
            _compare(run, program["label"], _said(labels[program["label"]], program), program)
    _compare(run, "data", {"identity": before.get("data_identity")}, {"identity": theirs.identity})
    _compare(run, "dspy", {"version": before.get("dspy")}, {"version": now["dspy"]})
    if any(getattr(system, "asks_lm", True) for system in wanted.values()):
        keys = ("model", "settings")
        _compare(run, "memory LM", *({key: one["memory_lm"].get(key) for key in keys} for one in (before, now)))
    lines = _lines(run, wanted, benchmark)
    whole = json.dumps(before, sort_keys=True)
    return ReusedMemories(run, hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:16], lines)


def schema_of(run: Path) -> str:
    """`--schema` of a run.

    Raises:
        InputError: there is no run of MPT.
    """
    return str(_config(run).get("data_schema") or "base")


def _config(run: Path) -> dict[str, Any]:
    document = read_config(run) if run.is_dir() else None
    if document is None:
        raise InputError(f"--memories {run} holds no run: give a folder that `python -m eval.run --out` wrote")
    config: dict[str, Any] = document["config"]
    if config.get("task", FIRST_TASK) != FIRST_TASK:
        raise InputError(f"--memories {run} is a run on {config.get('task')}, which has no memories: leave it out")
    try:
        labels = [one["label"] for one in config["programs"]]
        known = bool(labels) and isinstance(config["memory_lm"]["model"], str)
    except (KeyError, TypeError):
        known = False
    if not known:
        raise InputError(f"--memories {run}: its config.json is not as eval.run writes it: give another run")
    return config


def _said(old: Record, new: Record) -> Record:
    """Runs from before there were libraries or files did not speak of them; their lines do (see `_lines`)."""
    return {"files": new["files"], "memory": new["memory"], **old}


def _lines(run: Path, wanted: Mapping[str, System], benchmark: Benchmark) -> dict[Key, list[Record]]:
    """Up to the first update of each history that the other run would do again."""
    found: dict[Key, list[Record]] = {}
    closed: set[Key] = set()
    for line in read_lines(run / "memories.jsonl"):
        history = benchmark.histories.get(str(line.get("history_id")))
        key = (str(line.get("program")), str(line.get("history_id")))
        if history is None or key[0] not in wanted or key in closed:
            continue
        if (line.get("error") or {}).get("retry"):
            closed.add(key)
            continue
        _check_line(run, line)
        at = len(found.setdefault(key, []))
        if [one.id for one in history.sessions[at : at + 1]] != [line["session_id"]]:
            _refuse(run, f"its session {line['session_id']} of {history.id} is not this data's", "give another run")
        _check_library(run, key[0], wanted[key[0]], line)
        found[key].append(line)
    return found


def _check_line(run: Path, line: Record) -> None:
    try:
        whole = all(type(line[name]) is kind for name, kind in _FORM.items())
        Memory.model_validate(line["memory"])
    except (KeyError, ValidationError):
        whole = False
    if not whole:
        raise InputError(
            f"--memories {run}: a line of its memories.jsonl is not as eval.run writes it: give another run"
        )


def _check_library(run: Path, label: str, system: System, line: Record) -> None:
    """What was at work in an update is in its line, whatever the run's configuration says."""
    describe = getattr(system, "describe", None)
    book = line["attempts"][-1] if line["attempts"] else None
    if describe is not None and isinstance(book, dict) and book.get("stage") == "write":
        now = describe()
        _compare(run, label, {"memory": {name: book.get(name) for name in now}}, {"memory": now})


def _compare(run: Path, what: str, before: Record, now: Record) -> None:
    if lines := differences(before, now):
        _refuse(run, f"{what}: {lines[0].strip()} (then -> now)", "leave it out, or use those settings again")


def _refuse(run: Path, why: str, instead: str) -> None:
    raise InputError(f"--memories {run} does not fit: {why}: {instead}")


def _in_common(ours: list[Record], theirs: list[Record]) -> int:
    """How many sessions need not be taken over: all, when this run's memory is another one."""
    if not ours:
        return 0
    same = len(ours) <= len(theirs) and ours[-1]["memory"] == theirs[len(ours) - 1]["memory"]
    return len(ours) if same and not any((one.get("error") or {}).get("retry") for one in ours) else len(theirs)
