"""`python -m eval.run` as a user meets it: exit codes, and one line that says what to type next."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from dspy import lm15
from scripted_run import ScriptedEngine, scripted_lm, tiny_benchmark
from typer.testing import CliRunner

from eval import run as cli
from eval.journal import Journal, read_lines
from eval.options import parse_options, parse_program
from eval.progress import PhaseProgress
from eval.report import app as report
from eval.tasks import mpt
from prefine_dspy.errors import InputError
from programs import SYSTEMS, Entry


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """The command with a scripted LM, two scripted programs and the tiny benchmark."""
    engine = ScriptedEngine()
    for name, kind in {"chain": "ChainSystem", "direct": "DirectSystem"}.items():
        monkeypatch.setitem(SYSTEMS, name, Entry("mpt", f"scripted_run:{kind}"))
    monkeypatch.setattr(mpt, "load_benchmark", lambda name, schema: tiny_benchmark())
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name: scripted_lm(engine, f"scripted/{name}"))
    return engine


def invoke(out: Path, *words: str) -> Any:
    return CliRunner().invoke(cli.app, ["--program", "chain", "--lm", "one", "--out", str(out), *words])


def test_a_run_prints_its_table_and_where_it_is(tmp_path: Path, engine: ScriptedEngine) -> None:
    result = invoke(tmp_path / "run", "--program", "direct:steps=2", "--num-threads", "2")
    assert result.exit_code == 0, result.output
    assert "O-F1, context-free queries" in result.stdout
    assert "| direct:steps=2 |" in result.stdout
    assert f"written to {tmp_path / 'run'}" in result.stdout
    assert "items 24/24" in result.stderr
    config = json.loads((tmp_path / "run/config.json").read_text(encoding="utf-8"))["config"]
    assert config["programs"][1] | {"fingerprint": ""} == {
        "label": "direct:steps=2",
        "name": "direct",
        "options": {"steps": 2},
        "fingerprint": "",
        "files": {},
        "memory": None,
    }
    assert config["lm"]["model"] == "scripted/one"


def test_limit_and_query_choose(tmp_path: Path, engine: ScriptedEngine) -> None:
    assert invoke(tmp_path / "run", "--query", "cf", "--limit", "4").exit_code == 0
    items = read_lines(tmp_path / "run/items.jsonl")
    assert len(items) == 4 and {one["query_type"] for one in items} == {"cf"}
    assert {one["history_id"] for one in read_lines(tmp_path / "run/memories.jsonl")} == {
        one["history_id"] for one in items
    }


def test_without_resume_an_existing_run_is_refused(tmp_path: Path, engine: ScriptedEngine) -> None:
    invoke(tmp_path / "run")
    result = invoke(tmp_path / "run")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and "--resume" in result.stderr
    changed = invoke(tmp_path / "run", "--resume", "--seed", "4")
    assert changed.exit_code == 2 and "  seed: 0 -> 4" in changed.stderr


def test_the_budget_stops_with_exit_code_3_and_the_next_command(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["eval.run", "--program", "chain", "--max-calls", "5", "--out", "x"])
    result = invoke(tmp_path / "run", "--max-calls", "5")
    assert result.exit_code == 3 and engine.calls == 5
    assert "python -m eval.run --program chain --out x --resume --max-calls N" in result.stderr
    assert invoke(tmp_path / "run", "--resume").exit_code == 0
    assert engine.calls == 12 * 3 + 12


def test_too_many_failures_are_an_exit_code(tmp_path: Path, engine: ScriptedEngine) -> None:
    engine.fail = lambda prompt: lm15.ServerError("down") if "query 1" in prompt else None
    failed = invoke(tmp_path / "run")
    assert failed.exit_code == 1 and "33% of the items ended in lm_error or parse_error" in failed.stderr
    assert invoke(tmp_path / "other", "--max-failures", "0.5").exit_code == 0


def test_a_dead_lm_is_one_line_and_the_same_command_works_later(tmp_path: Path, engine: ScriptedEngine) -> None:
    engine.fail = lambda prompt: lm15.TransportError("connection refused")
    result = invoke(tmp_path / "run")
    assert result.exit_code == 2 and engine.calls == 1
    assert result.stderr.splitlines()[-1].startswith("error: the first call to scripted/one failed: connection refused")
    engine.fail = None
    assert invoke(tmp_path / "run", "--max-calls", "48").exit_code == 0


def test_ctrl_c_keeps_what_is_done(tmp_path: Path, engine: ScriptedEngine) -> None:
    before = signal.getsignal(signal.SIGINT)

    def interrupt(prompt: str) -> None:
        if engine.calls == 10:
            os.kill(os.getpid(), signal.SIGINT)

    engine.fail, engine.seconds = interrupt, 0.01
    result = invoke(tmp_path / "run")
    assert result.exit_code == 130 and "--resume" in result.stderr
    assert engine.calls < 48
    assert signal.getsignal(signal.SIGINT) is before
    engine.fail = None
    assert invoke(tmp_path / "run", "--resume").exit_code == 0
    assert engine.calls == 12 * 3 + 12


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--program", "nix"], "no program is called 'nix'"),
        (["--option", "K"], "'K' is no option: write key=value"),
        (["--program", "chain:steps"], "'steps' is no option"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, engine: ScriptedEngine, words: list[str], line: str) -> None:
    result = invoke(tmp_path / "run", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and line in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_an_empty_out_is_not_the_working_folder(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, words in (
        (cli.app, ["--program", "chain", "--lm", "one", "--out", ""]),
        (report, [".", "--out", " "]),
    ):
        result = CliRunner().invoke(command, words)
        assert result.exit_code == 2 and result.stderr.startswith("error: --out is empty: name ")
    assert list(tmp_path.iterdir()) == []


def test_an_lm_that_dspy_refuses_is_one_line(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise ValueError("model 'x/' has a provider prefix but no model id after it")

    monkeypatch.setattr("prefine_dspy.lm.resolve", refuse)
    result = invoke(tmp_path / "run")
    assert result.exit_code == 2 and result.stderr.startswith("error: the LM one cannot be used")


def test_two_lms_that_would_share_answers_are_refused(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(name: str) -> Any:
        lm = scripted_lm(engine)
        lm.kwargs["api_base"] = f"http://{name}"
        return lm

    monkeypatch.setattr("prefine_dspy.lm.resolve", resolve)
    result = invoke(tmp_path / "run", "--memory-lm", "two")
    assert result.exit_code == 2 and "different addresses" in result.stderr


def test_options_are_json_where_they_can_be() -> None:
    pairs = ["K=3", "record=full", "x=true", 'y="3"', "z=a=b"]
    assert parse_options(pairs) == {"K": 3, "record": "full", "x": True, "y": "3", "z": "a=b"}
    assert parse_program("prefine:record=full,K=3") == ("prefine", {"record": "full", "K": 3})
    assert parse_program("prefine") == ("prefine", {})


def test_progress_says_rate_and_time_left_of_this_process() -> None:
    now = [100.0]
    stream = io.StringIO()
    with PhaseProgress("items", total=30, done=10, unit="items", stream=stream, clock=lambda: now[0]) as progress:
        for _ in range(10):
            now[0] += 2.0
            progress.advance()
        assert progress.line() == "items 20/30, 0.50 items/s, 0:20 left"
    lines = stream.getvalue().splitlines()
    assert lines[0] == "items 10/30" and lines[-1] == "items 20/30, 0.50 items/s, 0:20 left"
    assert 3 <= len(lines) <= 4


def test_progress_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with PhaseProgress("items", total=2, done=0, unit="items", stream=stream) as progress:
        progress.advance()
    assert "1/2" in stream.getvalue()


def test_a_full_disk_is_one_line_and_nothing_is_paid_twice(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, left = Journal.append, [20]

    def fill(journal: Journal, record: dict[str, Any]) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(journal, record)

    monkeypatch.setattr(Journal, "append", fill)
    result = invoke(tmp_path / "run")
    assert result.exit_code == 2
    line = result.stderr.splitlines()[-1]
    assert line.startswith(f"error: cannot use {tmp_path / 'run'}: No space left on device") and "--resume" in line
    monkeypatch.setattr(Journal, "append", append)
    assert invoke(tmp_path / "run", "--resume").exit_code == 0
    assert engine.calls == 12 * 3 + 12


def test_an_out_that_cannot_be_made_is_one_line(tmp_path: Path, engine: ScriptedEngine) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = invoke(tmp_path / "file/run")
    assert result.exit_code == 2 and result.stderr.startswith(f"error: cannot use {tmp_path / 'file/run'}: ")
    assert engine.calls == 0


def test_data_without_queries_is_not_told_to_try_both(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no queries under this --schema"):
        mpt.choose(tiny_benchmark(queries=0), "both", None, 0)
