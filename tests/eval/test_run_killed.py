"""Killed at any moment, a run continues without losing an item or paying for an answer twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from scripted_run import ScriptedEngine, scripted_run

from eval.journal import read_lines

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def without_time(path: Path) -> list[dict]:
    """What must be equal however often a run was killed: everything but seconds, and which answers were cached."""
    records = read_lines(path)
    for record in records:
        record.pop("seconds")
        record["usage"].pop("lm_seconds")
        record["usage"].pop("cached_calls")
    return sorted(records, key=lambda r: (r["program"], r["history_id"], r.get("session", 0), r.get("id", "")))


def test_killed_at_random_moments(tmp_path: Path) -> None:
    out, log = tmp_path / "killed", tmp_path / "calls"
    script = Path(__file__).with_name("scripted_run.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script), str(out), str(log), "26", "7"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    kills = json.loads(done.stdout)["kills"]
    assert kills >= 20

    undisturbed = tmp_path / "undisturbed"
    engine = ScriptedEngine()
    summary = scripted_run(undisturbed, engine, num_threads=2)
    for name in ("memories.jsonl", "items.jsonl"):
        assert without_time(out / name) == without_time(undisturbed / name)
    killed_summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert killed_summary["programs"]["chain"]["scores"] == summary["programs"]["chain"]["scores"]

    # Nothing was asked twice except what a thread was at when its process was killed: its last call.
    last: dict[tuple[str, str], str] = {}
    askers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in log.read_text(encoding="utf-8").splitlines():
        pid, thread, prompt = line.split()
        last[pid, thread] = prompt
        askers[prompt].append((pid, thread))
    assert len({pid for pid, _ in last}) >= 8, "the kills did not hit processes at work"
    for prompt, asked_by in askers.items():
        for asker in asked_by[:-1]:
            assert last[asker] == prompt, f"{prompt} was answered and asked again"
    assert len(askers) == engine.calls
    assert sum(map(len, askers.values())) - len(askers) <= 2 * kills
