"""Differences to full-history prompting, competing evidence by reasoning type, score beside cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.tasks.mpt_tables import draw, memory_systems, report_text, summarise

NOTHING = {"tp": 0, "fp": 0, "fn": 0}
USAGE = {
    **dict.fromkeys(("lm_calls", "cached_calls", "failed_calls", "unreported_calls"), 0),
    **{"input_tokens": 100, "output_tokens": 5, "cache_read_tokens": 0, "lm_seconds": 2.0, "cost": None},
}
BOOK = {
    "stage": "write",
    "lm": "one",
    "library": "mem0ai",
    "version": "2",
    "embedding": "local",
    "dimensions": 3,
    "k": 5,
}


def item(program: str, at: int, right: bool, **changes: Any) -> dict[str, Any]:
    part = {"tp": int(right), "fp": int(not right), "fn": int(not right)}
    score = {
        **{"overall": part, "pref": part, "nonpref": NOTHING, "pref_exact_match": int(right), "function_right": True},
        **{"abstained": False, "parse_failed": False, "predicted_arguments": 1, "gold_arguments": 1},
        "gold_preferences": 1,
    }
    base = {
        **{"program": program, "id": str(at), "history_id": f"h{at}", "query_type": "cf", "reasoning_type": "recall"},
        **{"schema": "base", "evidence": {"supporting": 4, "competing": at, "unrelated": 0}, "status": "ok"},
        **{"scores": {"strict": score, "reference": score}, "memory_tokens": 10, "usage": USAGE},
    }
    return {**base, **changes}


def memory(program: str = "mem0", **book: Any) -> dict[str, Any]:
    done = {**BOOK, "embedding_tokens": 30, "written": 1, "failed": 0, **book}
    return {
        **{"program": program, "history_id": "h0", "session": 1, "accepted": True, "memory_tokens": 10},
        **{"parse_failures": 0, "status": "ok", "usage": USAGE, "attempts": [done]},
    }


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    """Items 0 to 9 with as much competing evidence: full_history is right on the even ones below 4, mem0 below 8; one
    more, which full_history did not answer."""
    theirs = [item("full_history", at, at < 4 and at % 2 == 0) for at in range(10)]
    ours = [item("mem0", at, at < 8) for at in range(10)] + [item("mem0", 99, True)]
    unseen = [item(name, 200, name == "mem0", schema="extended") for name in ("full_history", "mem0")]
    return summarise([*theirs, *ours, *unseen], [memory()])


def test_differences_are_on_the_instances_that_both_answered(summary: dict[str, Any]) -> None:
    assert list(summary["differences"]) == ["mem0"]
    found = summary["differences"]["mem0"]["strict"]
    cell = found["O-F1"]["cf"]["recall"]
    assert (cell["value"], cell["n"]) == (60, 10)
    assert cell["low"] < 60 < cell["high"] and cell["low"] > 0
    assert found["O-F1"]["cf"]["transfer"] is None and "cg" not in found["O-F1"]


def test_quintiles_and_competing_evidence_are_paired_cell_by_cell(summary: dict[str, Any]) -> None:
    found = summary["differences"]["mem0"]["strict"]
    cells = found["quintiles"]["recall"]
    assert [cells[name]["value"] for name in ("Q1", "Q2", "Q3", "Q4", "Q5")] == [50, 50, 100, 100, 0]
    assert [cell["n"] for cell in cells.values()] == [2] * 5
    assert (found["competing"]["recall"]["C=0"]["value"], found["competing"]["recall"]["C=0"]["n"]) == (0, 1)
    assert found["competing"]["recall"]["C>0"]["value"] == pytest.approx(66.67)


def test_competing_evidence_by_reasoning_type(summary: dict[str, Any]) -> None:
    cells = summary["competing_by_type"]["mem0"]["strict"]
    assert list(cells) == ["recall"]
    assert (cells["recall"]["C=0"]["value"], cells["recall"]["C>0"]["n"]) == (100, 10)


def test_unseen_functions_count_in_their_own_table_only(summary: dict[str, Any]) -> None:
    assert summary["extended_deltas"]["mem0"]["strict"]["cf"]["value"] == 100
    assert "O-F1 on unseen functions" in report_text(summary, ("strict",))


def test_score_and_cost_stand_in_one_row(summary: dict[str, Any]) -> None:
    text = report_text(summary, ("strict",))
    title, row = (
        "**O-F1 (mean of types) and cost",
        next(line for line in text.splitlines() if line.startswith("| mem0")),
    )
    assert text.startswith(title)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[5:9] == ["100.0", "30.0", "5.0", "135.0"]
    assert "IMP-F1 minus that of full_history by interference quintile" in text
    assert "| mem0    | mem0ai  | 2       | one" in text


def test_queries_that_got_fewer_notes_than_there_are_show(summary: dict[str, Any]) -> None:
    items = [item("mem0", at, True, retrieval={"missing": at % 2}) for at in range(5)]
    found = summarise([*items, item("full_history", 1, True)], [memory()])
    assert found["short_retrievals"] == {"mem0": 2}
    row = report_text(found, ("strict",)).splitlines()[-1]
    assert row.startswith("| mem0") and row.endswith("| 5 | 2                                |")


def test_what_was_at_work_is_told_once_and_twice_where_it_changed() -> None:
    lines = [memory(), memory(lm=None), memory(), memory(version="3"), memory("prefine", stage="verify")]
    assert memory_systems(lines) == {"mem0": [{**_shown(), "version": "2"}, {**_shown(), "version": "3"}]}


def _shown() -> dict[str, Any]:
    return {name: value for name, value in BOOK.items() if name != "stage"}


def test_the_figure_of_competing_evidence_is_drawn(summary: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = [path.name for path in draw(summary, {}, tmp_path)]
    assert "f1_by_competing_evidence.png" in names
    assert (tmp_path / "f1_by_competing_evidence.png").read_bytes().startswith(b"\x89PNG")
