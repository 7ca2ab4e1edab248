"""The exit code of a run whose items or memory updates failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval import run as run_module
from eval.tasks.kinds import KINDS


@pytest.mark.parametrize(
    ("items", "updates", "code", "said"),
    [
        (0.2, 0.2, 0, ""),
        (0.3, 0.0, 1, "30% of the items ended"),
        (0.0, 0.4, 1, "40% of the memory updates ended"),
    ],
)
def test_too_many_failures_of_either_kind_are_not_a_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: float, updates: float, code: int, said: str
) -> None:
    def done(*args: Any, **options: Any) -> dict[str, Any]:
        return {"failed_share": items, "failed_update_share": updates}

    monkeypatch.setattr(run_module, "run", done)
    shown = KINDS["mpt"].presentation._replace(brief=lambda summary: "")
    monkeypatch.setitem(KINDS, "mpt", KINDS["mpt"]._replace(presentation=shown))
    words = ["--program", "prefine", "--lm", "openai/none", "--limit", "6", "--out", str(tmp_path / "run")]
    ended = CliRunner().invoke(run_module.app, words)
    assert ended.exit_code == code, ended.output
    assert said in ended.output
