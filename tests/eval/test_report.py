"""Tables, CSV and plots from runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from scripted_run import ChainSystem, DirectSystem, ScriptedEngine, scripted_run, tiny_benchmark
from typer.testing import CliRunner

from eval.costs import over_sessions
from eval.journal import read_lines
from eval.markdown import cell_text, report_text, table
from eval.report import app
from eval.tables import by_interference, competing, deltas, item_score, scores, summarise


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    systems = {"full_history": DirectSystem(), "prefine:K=3": ChainSystem()}
    scripted_run(folder / "one", ScriptedEngine(), systems=systems)
    scripted_run(folder / "two", ScriptedEngine(), systems={"full_history": DirectSystem(), "prefine": ChainSystem()})
    scripted_run(folder / "bigger", ScriptedEngine(), systems={"a": DirectSystem()}, benchmark=tiny_benchmark(5))
    return folder


def report(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def item(program: str = "p", **changes: Any) -> dict[str, Any]:
    counts = changes.pop("counts", (1, 0, 0))
    part = dict(zip(("tp", "fp", "fn"), counts, strict=True))
    nothing = {"tp": 0, "fp": 0, "fn": 0}
    score = {
        "overall": part,
        "pref": part,
        "nonpref": nothing,
        "pref_exact_match": int(counts[1:] == (0, 0)),
        "function_right": True,
        "abstained": False,
        "parse_failed": False,
        "predicted_arguments": counts[0] + counts[1],
        "gold_arguments": counts[0] + counts[2],
        "gold_preferences": counts[0] + counts[2],
    }
    base = {
        "program": program,
        "id": "i",
        "history_id": "h",
        "query_type": "cf",
        "reasoning_type": "recall",
        "schema": "base",
        "evidence": None,
        "status": "ok",
        "scores": {"strict": score, "reference": score},
        "memory_tokens": 10,
        "usage": {
            "lm_calls": 1,
            "cached_calls": 0,
            "failed_calls": 0,
            "unreported_calls": 0,
            "input_tokens": 100,
            "output_tokens": 5,
            "cache_read_tokens": 50,
            "lm_seconds": 2.0,
            "cost": None,
        },
    }
    return {**base, **changes}


def test_table_3_is_the_mean_of_pooled_types() -> None:
    items = [
        item(id="1", counts=(1, 0, 0)),
        item(id="2", counts=(0, 1, 1)),
        item(id="3", counts=(1, 0, 0), reasoning_type="induction"),
        item(id="4", counts=(0, 0, 1), reasoning_type="transfer"),
    ]
    o_f1 = scores(items, "strict")["cf"]["O-F1"]
    assert [o_f1[column]["value"] for column in ("recall", "induction", "transfer", "avg")] == [50, 100, 0, 50]
    assert o_f1["all"]["value"] == pytest.approx(57.14)
    assert (o_f1["recall"]["n"], o_f1["avg"]["n"]) == (2, 4)
    assert o_f1["avg"]["low"] <= 50 <= o_f1["avg"]["high"]


def test_there_is_no_exp_f1_where_nothing_is_stated() -> None:
    assert scores([item()], "strict")["cf"]["EXP-F1"]["avg"] is None
    assert "cg" not in scores([item()], "strict")


def test_deltas_are_paired_with_full_history_of_the_same_run() -> None:
    items = [
        item("full_history (a)", id="1", counts=(0, 1, 1)),
        item("full_history (b)", id="1", counts=(1, 0, 0)),
        item("prefine (a)", id="1", counts=(1, 0, 0)),
        item("prefine (b)", id="1", counts=(1, 0, 0)),
        item("prefine (b)", id="not answered by both", counts=(0, 1, 1)),
    ]
    grouped = {name: [one for one in items if one["program"] == name] for name in {one["program"] for one in items}}
    found = deltas(grouped, "type_mean")
    assert found["prefine (a)"]["strict"]["cf"]["value"] == 100
    assert found["prefine (b)"]["strict"]["cf"] | {"low": 0, "high": 0} == {"value": 0, "low": 0, "high": 0, "n": 1}
    assert "full_history (a)" not in found


def test_splits_by_evidence() -> None:
    items = [
        item(id=str(c), counts=(int(c < 3), 0, int(c >= 3)), evidence={"supporting": 4, "competing": c, "unrelated": 1})
        for c in range(5)
    ]
    split = competing(items, "strict")
    assert (split["C=0"]["value"], split["C=0"]["n"], split["C>0"]["n"]) == (100, 1, 4)
    values = [cell and cell["value"] for cell in by_interference(items, "strict")["recall"]]
    assert values == [100, 100, 100, 0, 0]
    assert by_interference([item()], "strict") == {} == competing([item()], "strict")


def test_unseen_functions_are_a_table_of_their_own() -> None:
    summary = summarise([item(), item(id="2", schema="extended", counts=(0, 1, 1))], [])
    program = summary["programs"]["p"]
    assert program["scores"]["strict"]["cf"]["O-F1"]["all"]["value"] == 100
    assert program["extended"]["strict"]["cf"]["O-F1"]["all"]["value"] == 0


def test_what_a_memory_library_did_silently_is_in_the_costs() -> None:
    line = {"program": "p", "accepted": True, "memory_tokens": 10, "parse_failures": 0, "status": "ok"}
    book = {"stage": "write", "embedding_tokens": 30, "unparsed": 0}
    updates = [
        {**line, "session": at, "usage": item()["usage"], "attempts": [{**book, "written": 2 * at, "failed": at - 1}]}
        for at in (1, 2)
    ]
    cost = summarise([item()], updates)["programs"]["p"]["cost"]
    assert (cost["written_per_session"], cost["embedding_tokens_per_session"], cost["library_failures"]) == (3, 30, 1)
    text = report_text(summarise([item()], updates), ("strict",))
    assert "failures inside the library" in text
    assert "failures inside the library" not in report_text(summarise([item()], []), ("strict",))


def test_costs_are_per_session_and_per_item() -> None:
    usage = {**item()["usage"], "lm_calls": 4, "input_tokens": 800, "cost": 0.5}
    updates = [
        {
            "program": "p",
            "session": at,
            "accepted": at == 1,
            "memory_tokens": 10 * at,
            "parse_failures": 1,
            "status": "ok",
        }
        | {"usage": usage}
        for at in (1, 2)
    ]
    cost = summarise([item(), item(id="2")], updates)["programs"]["p"]["cost"]
    assert (cost["sessions"], cost["lm_calls_per_session"], cost["input_tokens_per_session"]) == (2, 4, 800)
    assert (cost["accepted_share"], cost["update_parse_failures"], cost["cost"]) == (0.5, 2, 1.0)
    assert (cost["memory_tokens_per_item"], cost["input_tokens_per_item"], cost["lm_seconds_per_item"]) == (
        10,
        100,
        2.0,
    )
    assert over_sessions(updates, "memory_tokens") == [10, 20]
    assert over_sessions(updates, "accepted") == [1, 0]


def test_the_report_says_what_the_run_says(runs: Path) -> None:
    result = report(str(runs / "one"))
    assert result.exit_code == 0, result.output
    out = runs / "one" / "report"
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "| prefine:K=3  |" in text and "ΔAvg to full_history" in text and "commit" in text
    summary = json.loads((runs / "one/summary.json").read_text(encoding="utf-8"))
    reported = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert reported["programs"] == summary["programs"] and reported["deltas"] == summary["deltas"]
    with open(out / "scores.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = ("prefine:K=3", "strict", "cf", "O-F1", "avg")
    keys = ("program", "scorer", "query", "metric", "column")
    found = next(row for row in rows if tuple(row[key] for key in keys) == wanted)
    assert float(found["value"]) == summary["programs"]["prefine:K=3"]["scores"]["strict"]["cf"]["O-F1"]["avg"]["value"]
    for name in ("f1_by_reasoning", "f1_by_interference", "memory_tokens", "acceptance"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_runs_are_joined_and_told_apart(runs: Path, tmp_path: Path) -> None:
    result = report(str(runs / "one"), str(runs / "two"), "--out", str(tmp_path), "--scorer", "strict")
    assert result.exit_code == 0
    for name in ("full_history (one)", "full_history (two)", "prefine:K=3 (one)", "prefine (two)"):
        assert name in result.stdout
    assert "> warning" not in result.stdout and "reference scorer" not in result.stdout
    other = report(str(runs / "one"), str(runs / "bigger"), "--out", str(tmp_path))
    assert "> warning:" in other.stdout and "instances_identity" in other.stdout


def test_an_unfinished_run_is_reported_with_a_warning(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    for name in ("config.json", "memories.jsonl"):
        (tmp_path / "part" / name).write_bytes((runs / "one" / name).read_bytes())
    lines = (runs / "one/items.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "part/items.jsonl").write_bytes(b"".join(lines[:20]) + lines[20][:50])
    result = report(str(tmp_path / "part"))
    assert result.exit_code == 0 and "is not finished: 20 of 24 items" in result.stdout


def test_a_folder_without_a_run_is_one_line(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        result = report(str(folder))
        assert result.exit_code == 2
        assert result.stderr == f"error: {folder} holds no run: give a folder that `python -m eval.run --out` wrote\n"


@pytest.mark.parametrize(
    ("config", "items", "names"),
    [
        ({}, {"a": 1}, "KeyError: 'programs'"),
        (None, {"a": 1}, "KeyError: 'program'"),
        (None, {"program": "full_history"}, "KeyError: 'schema'"),
    ],
)
def test_files_that_no_run_wrote_are_one_line(runs: Path, tmp_path: Path, config: Any, items: Any, names: str) -> None:
    whole = (runs / "one/config.json").read_text(encoding="utf-8") if config is None else json.dumps({"config": config})
    (tmp_path / "config.json").write_text(whole, encoding="utf-8")
    (tmp_path / "items.jsonl").write_text(json.dumps(items) + "\n", encoding="utf-8")
    result = report(str(tmp_path))
    assert result.exit_code == 2 and names in result.stderr
    assert result.stderr.startswith(f"error: {tmp_path}: a file there") and result.stderr.count("\n") == 1


def test_an_out_that_cannot_be_written_is_one_line(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for out in (tmp_path / "file", tmp_path / "file/below"):
        result = report(str(runs / "one"), "--out", str(out))
        assert result.exit_code == 2
        assert result.stderr.startswith(f"error: cannot use {out}: ") and result.stderr.count("\n") == 1


def test_scores_are_read_as_they_were_written(runs: Path) -> None:
    for one in read_lines(runs / "one/items.jsonl"):
        score = item_score(one, "strict")
        assert score.overall.f1 == one["scores"]["strict"]["overall"]["f1"]


def test_markdown() -> None:
    assert table(["a", "b"], [["x|y", "1"]]).splitlines() == ["| a    | b |", "|------|---|", "| x\\|y | 1 |"]
    cell = {"value": 61.25, "low": 55.0, "high": 67.04, "n": 9}
    assert cell_text(cell) == "61.2 [55.0, 67.0]"
    assert cell_text(cell, signed=True, interval=False) == "+61.2"
    assert cell_text(None) == "–"
