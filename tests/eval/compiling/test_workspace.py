"""A compilation's folder: its lock, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.compiling.workspace import Workspace
from prefine_dspy.errors import InputError


def opened(path: Path, seed: int = 1, resume: bool = True) -> Workspace:
    return Workspace(path, {"seed": seed}, resume=resume, max_calls=None)


def test_one_compilation_at_a_time_and_only_the_same_one(tmp_path: Path) -> None:
    with opened(tmp_path / "work"), pytest.raises(InputError, match="another process is compiling in .*another --work"):
        opened(tmp_path / "work").__enter__()
    with opened(tmp_path / "work"):
        pass
    with pytest.raises(InputError, match="holds a compilation already: add --resume"):
        opened(tmp_path / "work", resume=False).__enter__()
    with pytest.raises(InputError, match="seed: 1 -> 2"):
        opened(tmp_path / "work", seed=2).__enter__()


def test_what_is_no_compilation_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds no compilation \(thesis.tex\): give another --work"):
        opened(tmp_path).__enter__()
    with pytest.raises(InputError, match="is a file: give another --work"):
        opened(tmp_path / "thesis.tex").__enter__()
    for damaged in ("{", "[]", "[" * 100_000):
        (tmp_path / "config.json").write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match="config.json is damaged: give another --work"):
            opened(tmp_path).__enter__()


def test_a_process_that_was_killed_at_its_start_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "config.json.part").write_text("{", encoding="utf-8")
    with opened(tmp_path) as workspace:
        assert json.loads((tmp_path / "config.json").read_text(encoding="utf-8")) == workspace.config
