"""The store's benchmark measures what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.bench_store import app, measure, populate
from prefine_dspy.store import PreferenceStore


def test_every_user_is_there_before(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with PreferenceStore(url) as store:
        populate(url, 12)
        for user in ("user0", "user11"):
            assert store.get(user).sessions == ("s1", "s2") and len(store.history(user)) == 2
        assert store.latest("user12") is None


def test_it_measures_reads_updates_and_forgetting(tmp_path: Path) -> None:
    found = measure(f"sqlite:///{tmp_path / 'm.db'}", users=3, seconds=0.1)
    assert [what for what, _, _ in found] == ["reads", "updates", "forget one user"]
    assert all(rate > 0 and median > 0 for _, rate, median in found)


@pytest.mark.parametrize("bad", ["mysql://host/name", "postgresql://ana:hunter2@127.0.0.1:1/name"])
def test_a_server_that_is_none_is_one_line(bad: str) -> None:
    done = CliRunner().invoke(app, ["--postgres", bad, "--users", "2", "--seconds", "0.1"])
    assert done.exit_code == 2
    assert done.output.startswith("error: ") and done.output.count("\n") == 1 and "hunter2" not in done.output
