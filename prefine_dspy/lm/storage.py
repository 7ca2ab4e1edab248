"""Where model files lie, and the proof that a file is what it should be."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import platformdirs

from prefine_dspy.errors import InputError, PrefineError

_CHUNK = 8 * 1024 * 1024


class WrongHash(PrefineError):
    """A model file's content is not the expected one; the file is not used."""


def models_dir() -> Path:
    """The folder of model files: $PREFINE_MODELS, or the user's cache folder."""
    override = os.environ.get("PREFINE_MODELS")
    return Path(override) if override else Path(platformdirs.user_cache_dir("prefine_dspy")) / "models"


def sha256_of(path: Path, on_bytes: Callable[[int], None] = lambda _: None) -> str:
    """The file's sha256, remembered beside files of the models folder until their size or time changes.

    Args:
        path: the file.
        on_bytes: called with the number of bytes read, for progress.
    """
    stat = path.stat()
    stamp = _stamp(path)
    key = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    try:
        known = json.loads(stamp.read_text(encoding="utf-8"))
        if {"size": known["size"], "mtime_ns": known["mtime_ns"]} == key:
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            on_bytes(len(chunk))
    if path.parent == models_dir():
        remember(path, digest.hexdigest())
    return digest.hexdigest()


def remember(path: Path, sha256: str) -> None:
    """Note a file's checked hash beside it, so that the next use need not read a gigabyte."""
    stat = path.stat()
    with contextlib.suppress(OSError):  # a folder of models may be read-only
        stamp = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": sha256}
        write_atomically(_stamp(path), json.dumps(stamp))


def _stamp(path: Path) -> Path:
    return path.with_name(path.name + ".sha256.json")


def verify(path: Path, sha256: str, size: int) -> None:
    """Check a model file.

    Raises:
        WrongHash: size or content differ.
    """
    if path.stat().st_size != size or sha256_of(path) != sha256:
        raise WrongHash(
            f"{path} is not the expected file (sha256 differs); it is not used. Delete it and fetch it again: "
            "python -m prefine_dspy.lm pull NAME (names: python -m prefine_dspy.lm list)"
        )


def locate(file: str) -> Path:
    """The path of a model file by its name in the models folder.

    Raises:
        InputError: not there.
    """
    path = models_dir() / file
    if not path.is_file():
        raise InputError(f"the model file {file} is not on this machine; fetch it with: python -m prefine_dspy.lm pull")
    return path


def write_atomically(path: Path, text: str) -> None:
    """Write a small text file so that no reader ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
