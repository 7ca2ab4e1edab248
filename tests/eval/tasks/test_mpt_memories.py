"""Memories of one run in another: `--memories`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripted_run import ScriptedEngine, scripted_lm, tiny_benchmark
from typer.testing import CliRunner

from eval import run as cli
from eval.journal import read_lines
from eval.tasks import mpt
from programs import SYSTEMS, Entry

UPDATES, QUERIES = 12, 12  # of the tiny benchmark, for one program; three LM calls an update


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """The command with a scripted LM, two scripted programs and the tiny benchmark under both schemas."""
    engine = ScriptedEngine()
    for name, kind in {"chain": "ChainSystem", "direct": "DirectSystem"}.items():
        monkeypatch.setitem(SYSTEMS, name, Entry("mpt", f"scripted_run:{kind}"))
    monkeypatch.setattr(mpt, "load_benchmark", benchmark)
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name: scripted_lm(engine, f"scripted/{name}"))
    return engine


def benchmark(name: str, schema: str) -> Any:
    """ "mini", and "other" whose sessions are others; both with extended queries to the same histories."""
    made = tiny_benchmark(sessions=3 if name == "mini" else 2)
    made = made._replace(
        identity=f"{name} {schema}", catalogues={**made.catalogues, "extended": made.catalogues["base"]}
    )
    if schema == "base":
        return made
    unseen = [one.model_copy(update={"id": f"x{one.id}", "schema_name": "extended"}) for one in made.instances]
    return made._replace(instances=unseen)


def invoke(out: Path, *words: str) -> Any:
    return CliRunner().invoke(cli.app, ["--lm", "one", "--out", str(out), *(words or ("--program", "chain"))])


def memories(out: Path) -> dict[tuple[str, str], Any]:
    lines = read_lines(out / "memories.jsonl")
    found = {(one["history_id"], one["session_id"]): one["memory"] for one in lines}
    assert len(found) == len(lines)
    return found


def test_memories_that_are_there_are_not_built_again(tmp_path: Path, engine: ScriptedEngine) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert invoke(first).exit_code == 0
    before = engine.calls
    asked = ("--program", "chain", "--program", "direct", "--schema", "extended", "--memories", str(first))
    result = invoke(second, *asked)
    assert result.exit_code == 0, result.output
    assert engine.calls - before == 2 * QUERIES, "no update was asked for"
    assert memories(second) == memories(first)
    assert all(one["usage"]["cached_calls"] == 3 and one["reused"] for one in read_lines(second / "memories.jsonl"))
    told = json.loads((second / "summary.json").read_text(encoding="utf-8"))["memories_reused"]
    assert told == {"run": str(first), "sessions": UPDATES, "of": UPDATES}
    assert json.loads((second / "config.json").read_text(encoding="utf-8"))["config"]["memories"]
    assert invoke(second, *asked, "--resume").exit_code == 0
    assert len(read_lines(second / "memories.jsonl")) == UPDATES
    without = invoke(second, *asked[:-2], "--resume")
    assert without.exit_code == 2 and "memories: " in without.stderr


def test_what_is_missing_is_built(tmp_path: Path, engine: ScriptedEngine) -> None:
    """Of the first run one history is whole, one broken off, one failed on the way, one is missing."""
    first, second, whole = tmp_path / "first", tmp_path / "second", tmp_path / "whole"
    assert invoke(whole).exit_code == invoke(first).exit_code == 0
    lines = {(one["history_id"], one["session"]): one for one in read_lines(first / "memories.jsonl")}
    lines["h2", 2]["error"] = {"kind": "LMTransportError", "message": "gone", "retry": True}
    kept = [line for (history, at), line in lines.items() if history in ("h0", "h2") or (history == "h1" and at < 3)]
    (first / "memories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    before = engine.calls
    assert invoke(second, "--program", "chain", "--memories", str(first)).exit_code == 0
    assert engine.calls - before == 3 * (1 + 2 + 3) + QUERIES
    assert memories(second) == memories(whole)
    told = json.loads((second / "summary.json").read_text(encoding="utf-8"))["memories_reused"]
    assert (told["sessions"], told["of"]) == (3 + 2 + 1, UPDATES)


def test_a_process_killed_while_it_takes_them_over(tmp_path: Path, engine: ScriptedEngine) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert invoke(first).exit_code == 0
    asked = ("--program", "chain", "--memories", str(first))
    assert invoke(second, *asked).exit_code == 0
    lines = (second / "memories.jsonl").read_bytes().splitlines(keepends=True)
    (second / "memories.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:30])
    (second / "items.jsonl").unlink()
    before = engine.calls
    assert invoke(second, *asked, "--resume").exit_code == 0
    assert engine.calls == before
    assert memories(second) == memories(first)


@pytest.mark.parametrize(
    ("words", "difference"),
    [
        (("--program", "chain:steps=2"), "none of which is a program with a memory here"),
        (("--program", "direct"), "none of which is a program with a memory here"),
        (("--program", "chain", "--option", "steps=2"), "chain: options.steps: null -> 2"),
        (("--program", "chain", "--memory-lm", "two"), 'memory LM: model: "scripted/one" -> "scripted/two"'),
        (("--program", "chain", "--data", "other"), 'data: identity: "mini base" -> "other base"'),
    ],
)
def test_what_does_not_fit_is_refused_and_named(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], difference: str
) -> None:
    monkeypatch.setattr("eval.preparation.kind_of", lambda data: "mpt")
    assert invoke(tmp_path / "first").exit_code == 0
    result = invoke(tmp_path / "second", *words, "--memories", str(tmp_path / "first"))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: --memories {tmp_path / 'first'} does not fit: ")
    assert difference in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "second").exists()


def test_another_inference_lm_may_use_them(tmp_path: Path, engine: ScriptedEngine) -> None:
    assert invoke(tmp_path / "first").exit_code == 0
    before = engine.calls
    words = ("--program", "chain", "--lm", "two", "--memory-lm", "one", "--memories", str(tmp_path / "first"))
    assert CliRunner().invoke(cli.app, ["--out", str(tmp_path / "second"), *words]).exit_code == 0
    assert engine.calls - before == QUERIES


def test_a_library_that_was_another_one_is_found_in_the_lines(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old runs do not say in their config.json what was at work."""
    pytest.importorskip("wordllama")
    assert invoke(tmp_path / "first", "--program", "rag", "--max-failures", "1").exit_code == 0
    document = json.loads((tmp_path / "first/config.json").read_text(encoding="utf-8"))
    told = document["config"]["programs"][0].pop("memory")
    assert (told["library"], told["k"]) == ("dspy", 5) and told["embedding"].startswith("local (wordllama ")
    (tmp_path / "first/config.json").write_text(json.dumps(document), encoding="utf-8")
    asked = ("--program", "rag", "--memories", str(tmp_path / "first"), "--memory-lm", "two", "--max-failures", "1")
    assert invoke(tmp_path / "fits", *asked).exit_code == 0, "no LM writes for rag"
    monkeypatch.setattr("programs.memory_backends.embedding.version", lambda name: "99")
    refused = invoke(tmp_path / "second", *asked)
    assert refused.exit_code == 2 and "rag: memory.embedding: " in refused.stderr


@pytest.mark.parametrize("line", ['{"program": "chain", "history_id": "h0"}', "[]", '{"program": "chain"'])
def test_lines_that_no_run_wrote_are_one_line(tmp_path: Path, engine: ScriptedEngine, line: str) -> None:
    assert invoke(tmp_path / "first").exit_code == 0
    (tmp_path / "first/memories.jsonl").write_text(line + "\n", encoding="utf-8")
    result = invoke(tmp_path / "second", "--program", "chain", "--memories", str(tmp_path / "first"))
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and result.stderr.count("\n") == 1


def test_where_there_is_no_run(tmp_path: Path, engine: ScriptedEngine) -> None:
    for folder, says in ((tmp_path / "nowhere", "holds no run"), (tmp_path / "second", "this run's own folder")):
        result = invoke(tmp_path / "second", "--program", "chain", "--memories", str(folder))
        assert result.exit_code == 2 and says in result.stderr and result.stderr.count("\n") == 1


def test_both_schemas_in_one_run_over_the_same_memories(tmp_path: Path, engine: ScriptedEngine) -> None:
    words = ("--program", "chain", "--program", "direct", "--schema", "both")
    assert invoke(tmp_path / "run", *words).exit_code == 0
    items = read_lines(tmp_path / "run/items.jsonl")
    assert len(items) == 2 * 2 * QUERIES
    assert len(read_lines(tmp_path / "run/memories.jsonl")) == UPDATES
    summary = json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8"))
    for part in ("scores", "extended"):
        assert summary["programs"]["chain"][part]["strict"]["cf"]["P-EM"]["all"]["n"] == QUERIES * 2 // 3


def test_a_limit_takes_half_of_each_schema_over_the_same_histories() -> None:
    made = benchmark("mini", "base")
    made = made._replace(instances=[*made.instances, *benchmark("mini", "extended").instances])
    chosen = mpt.choose(made, "both", 6, seed=0)
    by_schema = {schema: [one for one in chosen if one.schema_name == schema] for schema in ("base", "extended")}
    assert [len(part) for part in by_schema.values()] == [3, 3]
    assert {one.history_id for one in by_schema["extended"]} <= {one.history_id for one in by_schema["base"]}
    few = made._replace(instances=made.instances[:12] + made.instances[12:14])
    assert [one.schema_name for one in mpt.choose(few, "both", 12, seed=0)].count("extended") == 2
