"""The README's own code, run as a newcomer would type it."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from booking import booking_script
from scripted_lm import lm_of

import prefine_dspy.lm

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def snippet() -> str:
    section = README.partition("## Load into another agent")[2]
    block = re.search(r"^    from typing import Literal\n(?:    .*\n|\n)+", section, re.MULTILINE)
    assert block, "the README has no code under 'Load into another agent'"
    return textwrap.dedent(block[0])


def test_the_snippet_runs(monkeypatch, capsys):
    monkeypatch.setattr(prefine_dspy.lm, "resolve", lambda name: lm_of(booking_script()))
    exec(compile(snippet(), "README.md", "exec"), {"__name__": "readme"})
    said = capsys.readouterr().out
    assert "book_flight.destination = Paris" in said and "The user prefers" in said


@pytest.mark.local_lm
def test_the_snippet_runs_on_the_local_lm(tmp_path):
    done = subprocess.run([sys.executable, "-c", snippet()], capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "book_flight.destination = Paris" in done.stdout
