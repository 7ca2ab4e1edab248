"""`python -m prefine_dspy.store`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from store_sessions import accept, session

from prefine_dspy.store import PreferenceStore
from prefine_dspy.store.__main__ import main


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["store", *arguments, "--url", str(tmp_path / "m.db")])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    with PreferenceStore(tmp_path / "m.db") as store:
        store.update("ana", session("s1"), accept, lm="llamacpp/x")
    return call


def test_a_memorys_whole_life(run: object, tmp_path: Path) -> None:
    assert call(run, "show", "ana").startswith("saw s1\nhypothesis 1; 1 sessions observed")
    assert "pinned" in call(run, "correct", "ana", "wants the 窓")
    assert "wants the 窓" in call(run, "show", "ana") and "pinned" in call(run, "show", "ana")
    lines = call(run, "history", "ana").splitlines()
    assert len(lines) == 2
    assert 'session s1: saw s1 <- GetFlights(flight_class="Economy") (llamacpp/x)' in lines[0]
    assert "correction: wants the 窓 [pinned]" in lines[1]
    exported = call(run, "export", "ana")
    (tmp_path / "ana.json").write_text(exported, encoding="utf-8")
    assert call(run, "unpin", "ana") == "not pinned\n"
    assert call(run, "forget", "ana") == "forgotten\n"
    assert call(run, "forget", "ana") == "nothing was remembered of this user\n"
    assert call(run, "import", "bo", str(tmp_path / "ana.json")) == "imported: 1 sessions, hypothesis 2\n"
    assert json.loads(call(run, "export", "bo")) == {**json.loads(exported), "user": "bo"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "nobody"], "nothing is remembered of this user"),
        (["history", "nobody"], "nothing is remembered of this user"),
        (["export", "nobody"], "nothing is remembered of this user"),
        (["unpin", "nobody"], "nothing is remembered of this user"),
        (["show", ""], "a user id is needed"),
        (["correct", "ana", "x" * 5_000], "at most 4,000"),
        (["correct", "ana", ""], "a correction needs words"),
        (["correct", "ana", " \n"], "prefine_dspy.store forget"),
        (["import", "bo", "no/such/file"], "cannot be read as exported JSON"),
        (["import", "bo", __file__], "cannot be read as exported JSON"),
    ],
)
def test_errors_are_one_line(run: object, arguments: list[str], says: str) -> None:
    status, out, err = run(*arguments)  # type: ignore[operator]
    assert status == 2 and out == ""
    assert says in err and err.startswith("error: ") and err.count("\n") == 1


def test_files_that_are_no_export(run: object, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    status, _, err = run("import", "bo", str(tmp_path / "deep.json"))  # type: ignore[operator]
    assert status == 2 and "cannot be read as exported JSON" in err and err.count("\n") == 1
    exported = call(run, "export", "ana")
    (tmp_path / "bom.json").write_text(exported, encoding="utf-8-sig")
    assert call(run, "import", "bo", str(tmp_path / "bom.json")).startswith("imported: 1 sessions")


def test_the_module_runs(tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "prefine_dspy.store", "show", "ana", "--url", str(tmp_path / "none.db")]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8")
    assert done.returncode == 2 and done.stderr.startswith("error: there is no store at")
    assert not (tmp_path / "none.db").exists()


def call(run: object, *arguments: str) -> str:
    status, out, err = run(*arguments)  # type: ignore[operator]
    assert (status, err) == (0, "")
    return str(out)
