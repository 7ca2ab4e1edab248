"""How runs side by side are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_run import DirectSystem, ScriptedEngine, scripted_run

from eval.report import join
from prefine_dspy.errors import InputError

ITEMS = 12


def test_runs_of_one_name_in_two_folders_are_not_mixed(tmp_path: Path) -> None:
    folders = [tmp_path / "qwen" / "mini", tmp_path / "smollm" / "mini"]
    for folder in folders:
        folder.parent.mkdir()
        scripted_run(folder, ScriptedEngine(), systems={"full_history": DirectSystem()})
    joined = join(folders)
    names = [one["program"] for one in joined.items]
    assert {name: names.count(name) for name in names} == {
        "full_history (qwen/mini)": ITEMS,
        "full_history (smollm/mini)": ITEMS,
    }
    assert {one["program"] for one in join(folders[:1]).items} == {"full_history"}


def test_the_same_run_twice_is_refused(tmp_path: Path) -> None:
    scripted_run(tmp_path / "run", ScriptedEngine(), systems={"full_history": DirectSystem()})
    with pytest.raises(InputError, match="the same run is given twice"):
        join([tmp_path / "run", tmp_path / "run" / ".." / "run"])
