"""A folder that one process at a time works in, and that holds nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from prefine_dspy.errors import InputError

_LOCK = ".lock"
CONFIG = "config.json"


class LockedFolder:
    """Makes and locks a folder; tells what is wrong with it.

    Args:
        path: the folder; made when absent.
        option: of the command line that chooses it ("--out"), for messages.
        busy: what another process does, for messages ("writing").
        content: what the folder is to hold, for messages ("run").
    """

    def __init__(self, path: Path, *, option: str, busy: str, content: str) -> None:
        self.path = path
        self.option = option
        self.busy = busy
        self.content = content
        self._lock = FileLock(path / _LOCK)

    def acquire(self) -> None:
        """Raises InputError when the path is a file or another process holds the lock."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file: give another {self.option}")
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                f"another process is {self.busy} {self.path}: wait for it or give another {self.option}"
            ) from None

    def release(self) -> None:
        """Let others in."""
        self._lock.release()

    def check_empty(self) -> None:
        """Raises InputError when there is more than what a process leaves that is killed at its start."""
        others = sorted(entry.name for entry in self.path.iterdir() if entry.name not in (_LOCK, f"{CONFIG}.part"))
        if others:
            raise InputError(
                f"{self.path} is not empty and holds no {self.content} ({others[0]}): give another {self.option}"
            )


def read_object(file: Path, option: str) -> dict[str, Any] | None:
    """The JSON object of a folder's file; None when there is no such file.

    Raises:
        InputError: it cannot be read.
    """
    if not file.exists():
        return None
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InputError(f"{file} is damaged: give another {option}")
    return document
