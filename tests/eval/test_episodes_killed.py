"""Killed at any moment, a run on episodes continues without losing one, playing one twice or paying for an answer
twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_episodes import episodes_run
from scripted_run import ScriptedEngine

from eval.journal import read_lines

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
_TIMES = ("seconds", "lm_seconds", "cached_calls")


def without_time(value: Any) -> Any:
    """What must be equal however often a run was killed: everything but seconds, and which answers were cached."""
    if isinstance(value, dict):
        return {key: without_time(one) for key, one in value.items() if key not in _TIMES}
    return [without_time(one) for one in value] if isinstance(value, list) else value


def lines(path: Path) -> list[Any]:
    return sorted(without_time(read_lines(path)), key=lambda line: line["id"])


def test_killed_at_random_moments(tmp_path: Path) -> None:
    out, log = tmp_path / "killed", tmp_path / "calls"
    script = Path(__file__).with_name("scripted_episodes.py")
    done = subprocess.run(
        [sys.executable, str(script), str(out), str(log), "14", "5"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    kills = json.loads(done.stdout)["kills"]
    assert kills >= 8

    engine = ScriptedEngine()
    summary = episodes_run(tmp_path / "undisturbed", engine, num_threads=2)
    for name in ("items.jsonl", "transcripts.jsonl"):
        assert lines(out / name) == lines(tmp_path / "undisturbed" / name)
    killed = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert killed["programs"]["careless"]["pass_hat"] == summary["programs"]["careless"]["pass_hat"]

    # asked twice only where a process died before the answer was on disk: one call a thread and kill
    asked = [line.split()[2] for line in log.read_text(encoding="utf-8").splitlines()]
    assert len(set(asked)) == engine.calls and len(asked) - len(set(asked)) <= 2 * kills
