import hashlib
import json
import os
from pathlib import Path

import pytest

from prefine_dspy.errors import InputError
from prefine_dspy.lm import storage

ABC = hashlib.sha256(b"abc").hexdigest()


def model_in(folder, content=b"abc"):
    path = folder / "m.gguf"
    path.write_bytes(content)
    return path


def test_the_folder_is_the_environments_or_the_users_cache(models, monkeypatch):
    assert storage.models_dir() == models
    monkeypatch.delenv("PREFINE_MODELS")
    assert storage.models_dir().parts[-2:] == ("prefine_dspy", "models")


def test_a_hash_is_remembered_until_the_file_changes(models):
    path = model_in(models)
    read = []
    assert storage.sha256_of(path, read.append) == ABC
    assert storage.sha256_of(path, read.append) == ABC
    assert read == [3]
    path.write_bytes(b"xyz")
    os.utime(path, ns=(1, 1))
    assert storage.sha256_of(path, read.append) == hashlib.sha256(b"xyz").hexdigest()
    assert read == [3, 3]


@pytest.mark.parametrize("stamp", ["", "no json", "[]", "{}", '{"size": 3, "mtime_ns": 0, "sha256": "0"}'])
def test_a_broken_stamp_is_not_believed(models, stamp):
    path = model_in(models)
    path.with_name("m.gguf.sha256.json").write_text(stamp, encoding="utf-8")
    assert storage.sha256_of(path) == ABC
    assert json.loads(path.with_name("m.gguf.sha256.json").read_text(encoding="utf-8"))["sha256"] == ABC


def test_files_elsewhere_get_no_stamp(models, tmp_path):
    path = model_in(tmp_path)
    assert storage.sha256_of(path) == ABC
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["m.gguf"]


def test_a_folder_that_cannot_be_written_is_no_obstacle(models, monkeypatch):
    def refuse(path: Path, text: str) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(storage, "write_atomically", refuse)
    assert storage.sha256_of(model_in(models)) == ABC


@pytest.mark.parametrize(("sha256", "size"), [("0" * 64, 3), (ABC, 4)])
def test_a_wrong_file_is_refused(models, sha256, size):
    path = model_in(models)
    storage.verify(path, ABC, 3)
    with pytest.raises(storage.WrongHash, match="m.gguf is not the expected file.* python -m prefine_dspy.lm pull"):
        storage.verify(path, sha256, size)
    assert path.is_file()


def test_a_missing_file_says_how_to_fetch_it(models):
    with pytest.raises(InputError, match="m.gguf is not on this machine.*pull"):
        storage.locate("m.gguf")
    assert storage.locate(model_in(models).name) == models / "m.gguf"


def test_small_files_are_written_whole(tmp_path):
    path = tmp_path / "new" / "stamp.json"
    storage.write_atomically(path, "Zürich")
    assert path.read_text(encoding="utf-8") == "Zürich"
    assert [one.name for one in path.parent.iterdir()] == ["stamp.json"]
