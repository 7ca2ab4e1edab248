"""Where SGD dialogues come from: a folder with `dev/`, `test/`, `train/`, or the tar archive of one."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prefine_dspy.errors import InputError

_DIALOGUE_FILE = re.compile(r"dialogues_\d+\.json")


def read_dialogues(source: Path, split: str) -> Iterator[dict[str, Any]]:
    """The raw dialogues of a split, file by file in name order, as SGD publishes them.

    Raises:
        InputError: no such place, no dialogue files of that split in it, an archive that is cut off or damaged, or a
            file that is not JSON.
    """
    files = _from_archive(source, split) if source.is_file() else _from_folder(source, split)
    empty = True
    for name, content in files:
        empty = False
        try:
            dialogues = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} is not JSON ({error}): unpack SGD again") from error
        if not isinstance(dialogues, list):
            raise InputError(f"{name} is not a list of SGD dialogues")
        yield from dialogues
    if empty:
        raise InputError(
            f"no {split}/dialogues_*.json in {source}: give the folder that holds {split}/, or SGD's tar.gz"
        )


def _from_folder(source: Path, split: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted((source / split).glob("dialogues_*.json")):
        if _DIALOGUE_FILE.fullmatch(path.name):
            try:
                yield str(path), path.read_bytes()
            except OSError as error:
                raise InputError(f"cannot read {path}: {error.strerror}") from error


def _from_archive(source: Path, split: str) -> Iterator[tuple[str, bytes]]:
    # An archive keeps its files in any order and can only be read forwards: read all, then sort.
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                parts = member.name.split("/")
                if member.isfile() and parts[-2:-1] == [split] and _DIALOGUE_FILE.fullmatch(parts[-1]):
                    content = archive.extractfile(member)
                    if content is not None:
                        found[member.name] = content.read()
            _check_end(archive)
    except (OSError, tarfile.TarError, EOFError) as error:
        reason = str(error).partition("\n")[0]  # a list of all the ways that were tried follows
        raise InputError(
            f"cannot read {source} as a tar archive ({reason}): give SGD's tar.gz, or the folder that holds {split}/"
        ) from error
    yield from sorted(found.items())


def _check_end(archive: tarfile.TarFile) -> None:
    """Reading stops quietly at a header that cannot be read, or where a cut-off file ends between two members; a whole
    archive stops at a block of zeros."""
    assert archive.fileobj is not None
    archive.fileobj.seek(archive.offset)
    block = archive.fileobj.read(tarfile.BLOCKSIZE)
    if len(block) < tarfile.BLOCKSIZE or any(block):
        raise tarfile.ReadError("it is cut off or damaged")
