"""The journal on a disk that is full in the middle of a line."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.journal import Journal


class Disk:
    """`os.write` and `os.ftruncate` of a disk with room for a number of bytes; `dead` refuses to cut off, too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int, dead: bool = False) -> None:
        self.room, self.dead = room, dead
        self._write: Callable[..., int] = os.write
        self._cut: Callable[..., None] = os.ftruncate
        monkeypatch.setattr(os, "write", self.write)
        monkeypatch.setattr(os, "ftruncate", self.ftruncate)

    def write(self, descriptor: int, data: memoryview) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = self._write(descriptor, data[: self.room])
        self.room -= taken
        return taken

    def ftruncate(self, descriptor: int, length: int) -> None:
        if self.dead:
            raise OSError(errno.EIO, "Input/output error")
        self._cut(descriptor, length)


@pytest.mark.parametrize("dead", [False, True])
def test_half_a_line_on_a_full_disk_does_not_spoil_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead: bool
) -> None:
    journal = Journal(tmp_path / "items.jsonl")
    journal.append({"id": "first"})
    disk = Disk(monkeypatch, room=8, dead=dead)
    with pytest.raises(OSError, match="No space left"):
        journal.append({"id": "second"})
    assert journal.read() == [{"id": "first"}]
    disk.room, disk.dead = 1000, False
    journal.append({"id": "third"})
    journal.append({"id": "fourth"})
    assert journal.read() == [{"id": "first"}, {"id": "third"}, {"id": "fourth"}]
    assert not journal.repair()


def test_a_disk_that_takes_a_line_in_pieces_holds_it_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    journal = Journal(tmp_path / "items.jsonl")
    journal.append({"id": "Zürich"})
    assert journal.read() == [{"id": "Zürich"}]


def test_a_line_that_was_not_written_is_forgotten_by_repair_and_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is cut off later must not be what somebody wrote in the meantime."""
    for settle in (lambda journal: journal.repair(), lambda journal: journal.replace([{"id": "new"}])):
        journal = Journal(tmp_path / "items.jsonl")
        journal.append({"id": "first"})
        with monkeypatch.context() as patch:
            Disk(patch, room=4, dead=True)
            with pytest.raises(OSError, match="No space left"):
                journal.append({"id": "second"})
        journal.close()
        settle(journal)
        before = journal.read()
        journal.append({"id": "last"})
        assert journal.read() == [*before, {"id": "last"}]
        journal.close()
