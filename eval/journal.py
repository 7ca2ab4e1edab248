"""Append-only JSON lines that survive a kill at any moment, and JSON documents that are replaced whole.

A line is written by one `write` on a descriptor opened for appending, so a killed process leaves at most one torn
line, and only at the end. Readers ignore it; `repair` cuts it off before the next line is appended. A line that a full
disk did not take is cut off at once, so that other threads do not write on behind half of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefine_dspy.errors import InputError

# Half a character (of an argument that is not UTF-8, of an LM) becomes \udce9, which JSON reads back as it was.
_HALVES = "backslashreplace"


class Journal:
    """One append-only file of JSON objects, for one process and many threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._unfinished: int | None = None  # where a line begins that could not be written whole

    def append(self, record: dict[str, Any]) -> None:
        """Write one object as one line; when this returns, a killed process cannot lose it.

        Raises:
            OSError: it could not be written (a full disk); the file is as it was.
        """
        line = memoryview((json.dumps(record, ensure_ascii=False, default=str) + "\n").encode("utf-8", _HALVES))
        with self._lock:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            if self._unfinished is not None:
                os.ftruncate(self._descriptor, self._unfinished)
            self._unfinished = os.fstat(self._descriptor).st_size
            try:
                while line:  # a full disk may take less than asked for
                    line = line[os.write(self._descriptor, line) :]
            except BaseException:
                with contextlib.suppress(OSError):  # then the next append tries again
                    os.ftruncate(self._descriptor, self._unfinished)
                raise
            self._unfinished = None

    def repair(self) -> bool:
        """Cut off a torn last line; True when there was one."""
        self._unfinished = None
        if not self.path.exists():
            return False
        whole = self.path.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        if len(kept) == len(whole):
            return False
        with open(self.path, "rb+") as file:
            file.truncate(len(kept))
        return True

    def read(self) -> list[dict[str, Any]]:
        """All complete lines, in order.

        Raises:
            InputError: a line inside the file is not a JSON object.
        """
        return read_lines(self.path)

    def replace(self, records: Iterable[dict[str, Any]]) -> None:
        """Put these lines in place of the file's content, all or nothing."""
        self.close()
        self._unfinished = None
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        write_whole(self.path, text)

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file; [] when it does not exist. A last line without an end is left out.

    Raises:
        InputError: a finished line is not a JSON object.
    """
    if not path.exists():
        return []
    # bytes are split at line feeds only: text may hold other characters that Python counts as line ends
    lines = path.read_bytes().split(b"\n")[:-1]
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise InputError(f"{path}:{number} is not a JSON object: remove that line and run again with --resume")
        records.append(record)
    return records


def write_whole(path: Path, text: str) -> None:
    """Write a file so that readers see the old content or the new one, never a part."""
    temporary = path.with_name(path.name + ".part")
    with open(temporary, "w", encoding="utf-8", errors=_HALVES) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_json(path: Path, document: Any) -> None:
    """`write_whole` for a JSON document."""
    write_whole(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
