"""The folder of a run: config, memories, items, summary, the cache of LM answers, and the lock over them."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from eval.journal import Journal, write_json
from eval.run_config import RunConfig, check_same, provenance
from prefine_dspy.errors import InputError


class RunFolder:
    """Opens a run for writing; a context manager that holds its lock.

    Args:
        path: the folder.
        config: what the run is.
        resume: continue a run that is there. Without it an existing run is an error; with it a missing one is begun,
            so that the same command line works before and after a kill.

    Raises:
        InputError: the folder holds a run and `resume` is False, or a run of another configuration, or something
            that is no run, or another process writes it now.
    """

    def __init__(self, path: Path, config: RunConfig, *, resume: bool) -> None:
        self.path = path
        self.config = config
        self.resume = resume
        self.memories = Journal(path / "memories.jsonl")
        self.items = Journal(path / "items.jsonl")
        self.answers = path / "lm_answers"
        self.warnings: list[str] = []
        self._lock = FileLock(path / ".lock")

    def __enter__(self) -> RunFolder:
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file: give another --out")
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(f"another process is writing {self.path}: wait for it or give another --out") from None
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.memories.close()
        self.items.close()
        self._lock.release()

    def _open(self) -> None:
        document = read_config(self.path)
        now = self.config.model_dump(mode="json")
        if document is None:
            others = sorted(
                entry.name for entry in self.path.iterdir() if entry.name not in (".lock", "config.json.part")
            )
            if others:
                raise InputError(f"{self.path} is not empty and holds no run ({others[0]}): give another --out")
            write_json(self.path / "config.json", {"config": now, "provenance": provenance()})
            return
        if not (self.resume or self.memories.read() or self.items.read()):
            # the first try found no LM or had no budget: what it left is no reason to ask for --resume
            self._repair()
            write_json(self.path / "config.json", {"config": now, "provenance": provenance()})
            return
        if not self.resume:
            raise InputError(f"{self.path} holds a run already: add --resume to continue it, or give another --out")
        check_same(self.path, document["config"], now)
        was, is_now = document.get("provenance", {}).get("commit"), provenance()["commit"]
        if was != is_now:
            self.warnings.append(f"the run was started at commit {was}, this is {is_now}")
        (self.path / "summary.json").unlink(missing_ok=True)
        self._repair()

    def _repair(self) -> None:
        for journal in (self.memories, self.items):
            if journal.repair():
                self.warnings.append(f"cut off a torn last line of {journal.path.name} (the process was killed)")

    def write_summary(self, summary: dict[str, Any]) -> None:
        """The last thing a complete run does."""
        write_json(self.path / "summary.json", summary)


def read_config(path: Path) -> dict[str, Any] | None:
    """The run's config.json as `{"config": ..., "provenance": ...}`; None when there is none.

    Raises:
        InputError: it cannot be read.
    """
    file = path / "config.json"
    if not file.exists():
        return None
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(document["config"], dict):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{file} is damaged: give another --out") from None
    return document
