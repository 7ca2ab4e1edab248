"""`python -m eval.run` and `eval.report` on NLSI: the same loop as MPT's, other items."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dspy import lm15
from scripted_lm import Script, lm_of
from scripted_nlsi import GOLD, SCRIPTED, nlsi_folder
from scripted_run import ScriptedEngine, scripted_lm, scripted_run
from typer.testing import CliRunner

from eval import run as cli
from eval.journal import read_lines
from eval.metrics import locations
from eval.report import app as report_app
from programs import SYSTEMS, Entry, systems_for

ITEMS = 12
PLAIN, TAGGED = ITEMS, 2 * ITEMS  # LM calls of interpret and ext_tag


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    """The command with a scripted LM and scripted programs under the names of the real ones."""
    engine = ScriptedEngine()
    for name, kind in SCRIPTED.items():
        monkeypatch.setitem(SYSTEMS, name, Entry("nlsi", f"scripted_nlsi:{kind}"))
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name: scripted_lm(engine, f"scripted/{name}"))
    return engine


def invoke(out: Path, *words: str, data: str = "") -> Any:
    given = data or str(nlsi_folder(out.parent / "data"))
    names = [part for name in SCRIPTED for part in ("--program", name)]
    return CliRunner().invoke(cli.app, [*names, "--lm", "one", "--data", given, "--out", str(out), *words])


def test_a_run_writes_every_item_with_both_scores_and_prints_its_tables(tmp_path: Path, engine: ScriptedEngine) -> None:
    result = invoke(tmp_path / "run", "--num-threads", "2")
    assert result.exit_code == 0, result.output
    assert "NLSI (strict scorer" in result.stdout and "NLSI (reference scorer" in result.stdout
    assert "TAPS-Oracle: interpret / ext_tag" in result.stdout
    assert f"items {3 * ITEMS}/{3 * ITEMS}" in result.stderr
    items = read_lines(tmp_path / "run/items.jsonl")
    assert len({(one["program"], one["id"]) for one in items}) == len(items) == 3 * ITEMS
    assert not (tmp_path / "run/memories.jsonl").exists()
    tagged = next(one for one in items if one["program"] == "ext_tag")
    assert tagged["status"] == "ok" and tagged["gold"] == [GOLD] and tagged["usage"]["lm_calls"] == 2
    assert tagged["scores"]["strict"]["em"] == tagged["scores"]["reference"]["em"] == 1
    assert (tagged["tagged"], tagged["tagger_calls"], tagged["selected"], tagged["uncertainty"]) == (
        True,
        1,
        None,
        None,
    )
    assert {one["status"] for one in items if one["program"] == "interpret"} == {"ok", "wrong"}
    gated = [one for one in items if one["program"] == "taps"]
    assert all(one["first_scores"]["strict"]["f1"] <= one["scores"]["strict"]["f1"] for one in gated)
    assert all(one["tagged"] == (one["uncertainty"]["least_confidence"] >= 0.5) for one in gated)


def test_answers_that_programs_have_in_common_are_paid_once(tmp_path: Path, engine: ScriptedEngine) -> None:
    invoke(tmp_path / "run")
    assert engine.calls == PLAIN + TAGGED  # taps asks nothing that the others did not ask


def test_the_summary_holds_what_the_paper_reports(tmp_path: Path, engine: ScriptedEngine) -> None:
    invoke(tmp_path / "run")
    summary = json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8"))
    plain, tagged, gated = (summary["programs"][name] for name in SCRIPTED)
    assert tagged["scores"]["strict"]["EM"] == {"value": 100.0, "low": 100.0, "high": 100.0, "n": ITEMS}
    assert plain["scores"]["strict"]["EM"]["value"] < 100
    assert set(plain["by_type"]["strict"]) == {
        "NoneApplicable",
        "Plain",
        "MultiHop",
        "MultiPreference",
        "MultiDomain",
        "Conflict",
    }
    oracle = summary["oracles"]["TAPS-Oracle: interpret / ext_tag"]
    assert oracle["scores"]["strict"]["F1"]["value"] == 100
    wrong = plain["statuses"]["wrong"]
    assert oracle["augmented"]["strict"]["value"] == pytest.approx(100 * wrong / ITEMS, abs=0.01)
    assert "oracle over taps's own answers" in summary["oracles"]
    assert gated["tagger"]["tagged"]["value"] + gated["tagger"]["saved"]["value"] == pytest.approx(100, abs=0.02)
    assert plain["tagger"] is None and tagged["uncertainty"]["strict"] == {}
    assert set(plain["uncertainty"]["strict"]) == {"least_confidence"}
    assert [point["n"] for point in plain["coverage"]["strict"]][-1] == ITEMS
    delta = summary["deltas"]["ext_tag"]["interpret"]["strict"]["EM"]
    assert delta["value"] == pytest.approx(100 - plain["scores"]["strict"]["EM"]["value"], abs=0.02)
    assert plain["errors"]["value formatting"]["value"] + plain["errors"]["wrong value"]["value"] > 0
    assert summary["error_changes"]["ext_tag"]["interpret"]["wrong value"] == -1
    assert plain["cost"]["lm_calls_per_item"] == 1 and tagged["cost"]["lm_calls_per_item"] == 2
    assert "place_names" in summary


def test_a_limit_takes_all_types_and_the_split_is_part_of_the_run(tmp_path: Path, engine: ScriptedEngine) -> None:
    assert invoke(tmp_path / "run", "--limit", "6").exit_code == 0
    items = read_lines(tmp_path / "run/items.jsonl")
    assert len({one["reasoning_type"] for one in items}) == 6 and len(items) == 18
    config = json.loads((tmp_path / "run/config.json").read_text(encoding="utf-8"))["config"]
    assert (config["task"], config["split"], config["query"], config["data_schema"]) == ("nlsi", "test", None, None)
    other = invoke(tmp_path / "run", "--limit", "6", "--split", "train", "--resume")
    assert other.exit_code == 2 and '  split: "test" -> "train"' in other.stderr


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the published table would be; there is none yet."""
    monkeypatch.setattr(locations, "PUBLISHED_TABLE", tmp_path / "places.json")
    locations._default_aliases.cache_clear()
    yield tmp_path / "places.json"
    locations._default_aliases.cache_clear()


def test_a_run_is_not_resumed_with_other_names_of_places(tmp_path: Path, engine: ScriptedEngine, places: Path) -> None:
    assert invoke(tmp_path / "run").exit_code == 0
    document = json.loads((tmp_path / "run/config.json").read_text(encoding="utf-8"))
    summary = json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8"))
    assert document["config"]["place_names"] == summary["place_names_identity"] == "none"
    places.write_text('{"nyc": "new york"}', encoding="utf-8")
    locations._default_aliases.cache_clear()
    refused = invoke(tmp_path / "run", "--resume")
    assert refused.exit_code == 2 and '  place_names: "none" -> "' in refused.stderr
    # a run from before this was written down is not refused for it
    del document["config"]["place_names"]
    (tmp_path / "run/config.json").write_text(json.dumps(document), encoding="utf-8")
    assert invoke(tmp_path / "run", "--resume").exit_code == 0


def test_the_budget_stops_the_run_and_resuming_pays_only_the_rest(tmp_path: Path, engine: ScriptedEngine) -> None:
    stopped = invoke(tmp_path / "run", "--max-calls", "17")
    assert stopped.exit_code == 3 and engine.calls == 17
    assert not (tmp_path / "run/summary.json").exists()
    assert invoke(tmp_path / "run").exit_code == 2  # not without --resume
    assert invoke(tmp_path / "run", "--resume").exit_code == 0
    assert engine.calls == PLAIN + TAGGED
    before = (tmp_path / "run/items.jsonl").read_bytes()
    assert invoke(tmp_path / "run", "--resume").exit_code == 0
    assert engine.calls == PLAIN + TAGGED and (tmp_path / "run/items.jsonl").read_bytes() == before


def test_a_killed_run_uses_the_answers_it_has(
    tmp_path: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies between the tagger's answer and the interpreter's."""

    class Killed(BaseException):
        pass

    def die(prompt: str) -> None:
        if "answer with tags" in prompt:
            raise Killed

    engine.fail = die
    with pytest.raises(Killed):
        CliRunner().invoke(
            cli.app,
            ["--program", "ext_tag", "--lm", "one", "--data", str(nlsi_folder(tmp_path / "data"))]
            + ["--out", str(tmp_path / "run")],
        )
    assert read_lines(tmp_path / "run/items.jsonl") == []
    engine.fail, engine.calls = None, 0
    words = ["--program", "ext_tag", "--lm", "one", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(cli.app, [*words, "--resume"]).exit_code == 0
    assert engine.calls == TAGGED - 1
    first = read_lines(tmp_path / "run/items.jsonl")[0]
    assert (first["usage"]["lm_calls"], first["usage"]["cached_calls"]) == (2, 1)


def test_failed_items_count_as_wrong_and_are_asked_again(tmp_path: Path, engine: ScriptedEngine) -> None:
    engine.fail = lambda prompt: lm15.ServerError("down") if "take 3." in prompt else None
    result = invoke(tmp_path / "run", "--max-failures", "0.05")
    assert result.exit_code == 1 and "of the items ended in lm_error" in result.stderr
    failed = [one for one in read_lines(tmp_path / "run/items.jsonl") if one["status"] == "lm_error"]
    assert len(failed) == 3
    assert all(one["scores"]["strict"]["f1"] == one["scores"]["reference"]["f1"] == 0 for one in failed)
    assert all(one["error_kinds"] == {"unreadable": 1} for one in failed)
    engine.fail = None
    assert invoke(tmp_path / "run", "--resume").exit_code == 0
    assert {one["status"] for one in read_lines(tmp_path / "run/items.jsonl")} == {"ok", "wrong"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--program", "prefine"], "prefine answers MPT, not NLSI"),
        (["--query", "cg"], "--query is for MPT, and --data"),
        (["--schema", "base"], "--schema is for MPT, and --data"),
        (["--memory-lm", "two"], "--memory-lm is for MPT, and --data"),
        (["--split", "validation"], "has no validation.jsonl"),
    ],
)
def test_what_is_not_for_nlsi_is_one_line(tmp_path: Path, engine: ScriptedEngine, words: list[str], line: str) -> None:
    result = invoke(tmp_path / "run", *words)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: ") and line in result.stderr
    assert not (tmp_path / "run").exists() and engine.calls == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--program", "taps"], "for this data: full_history, prefine"),
        (["--program", "full_history", "--split", "test"], "give --data mini_nlsi"),
        (["--program", "full_history", "--data", "nix"], "no data 'nix': use mini, mpt, mini_nlsi, nlsi"),
    ],
)
def test_what_is_only_for_nlsi_is_one_line(tmp_path: Path, engine: ScriptedEngine, words: list[str], line: str) -> None:
    result = CliRunner().invoke(cli.app, [*words, "--lm", "one", "--out", str(tmp_path / "run")])
    assert result.exit_code == 2 and line in result.stderr and result.stderr.count("\n") == 1


def test_the_report_has_all_tables_a_plot_and_the_scores(tmp_path: Path, engine: ScriptedEngine) -> None:
    invoke(tmp_path / "run")
    result = CliRunner().invoke(report_app, [str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "run/report/report.md").read_text(encoding="utf-8")
    for title in (
        "F1 by reasoning type (strict",
        "EM by reasoning type (reference",
        "Paired differences (strict",
        "Uncertainty of the first answer",
        "The most certain share",
        "Use of the tagger",
        "Errors, % of instances",
        "Relative change of errors",
        "**Cost**",
        "How the items ended",
    ):
        assert title in text, title
    for name in ("coverage.png", "f1_by_type.png"):
        assert (tmp_path / "run/report" / name).read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "run/report/scores.csv").read_text(encoding="utf-8").splitlines()
    assert "ext_tag,strict,all,EM,100.0,100.0,100.0,12" in rows
    summary = json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8"))
    reported = json.loads((tmp_path / "run/report/summary.json").read_text(encoding="utf-8"))
    assert reported["programs"] == summary["programs"] and reported["oracles"] == summary["oracles"]


def test_two_runs_are_compared_each_with_its_own_baseline(tmp_path: Path, engine: ScriptedEngine) -> None:
    for name in ("one", "two"):
        assert invoke(tmp_path / name).exit_code == 0
    result = CliRunner().invoke(
        report_app, [str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "both")]
    )
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "both/summary.json").read_text(encoding="utf-8"))
    assert set(summary["deltas"]["taps (two)"]) == {"interpret (two)", "ext_tag (two)"}
    assert "TAPS-Oracle: interpret (one) / ext_tag (two)" not in summary["oracles"]


def test_runs_on_different_benchmarks_are_not_put_side_by_side(tmp_path: Path, engine: ScriptedEngine) -> None:
    invoke(tmp_path / "nlsi")
    scripted_run(tmp_path / "mpt", ScriptedEngine())
    result = CliRunner().invoke(report_app, [str(tmp_path / "nlsi"), str(tmp_path / "mpt")])
    assert result.exit_code == 2 and "report them one by one" in result.stderr


def test_the_real_programs_run_on_the_shipped_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program answers with what its own signature asks for; nothing of it is scripted but the LM."""

    def answer(request: lm15.Request) -> dict[str, Any]:
        fields = (request.config.response_format or {}).get("schema", {}).get("properties", {})
        given = {
            "calls": [{"function": "GetMusic", "arguments": {"genre": "Pop"}}],
            "tags": [],
            "tagged": [],
            "numbers": [1],
        }
        return {name: value for name, value in given.items() if name in fields}

    script = Script(answer, logprobs=True)
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name: lm_of(script).copy(cache=True))
    names = systems_for("nlsi")
    words = [part for name in names for part in ("--program", name)]
    result = CliRunner().invoke(
        cli.app, [*words, "--data", "mini_nlsi", "--limit", "6", "--lm", "one", "--out", str(tmp_path / "run")]
    )
    assert result.exit_code == 0, result.output
    items = read_lines(tmp_path / "run/items.jsonl")
    assert len(items) == 6 * len(names)
    assert {one["program"] for one in items if one["scores"] is None} == {"select"}
    assert {one["status"] for one in items} <= {"ok", "wrong", "abstained"}
    assert all(one["uncertainty"]["least_confidence"] > 0 for one in items if one["program"] in ("interpret", "taps"))
    assert any(one["selection"]["f1"] for one in items if one["program"] == "select")


def test_other_tags_in_a_file_of_the_same_name_are_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name: scripted_lm(ScriptedEngine(), f"scripted/{name}"))
    data, tags, out = nlsi_folder(tmp_path / "data", 1), tmp_path / "tags.csv", tmp_path / "run"
    sentence = "If I ask for Music, play Jazz. (0)"
    arguments = ["--program", f"ext_tag:tags={tags}", "--lm", "one", "--data", str(data), "--out", str(out)]

    def again() -> Any:
        return CliRunner().invoke(cli.app, [*arguments, "--resume", "--max-failures", "1"])

    def write(argument: str) -> None:
        tagged = sentence.replace("Jazz", f"[SL:{argument} Jazz ]")
        tags.write_text(f'org,aug\n"{sentence}","[IN:GET_MUSIC {tagged} ]"\n', encoding="utf-8")

    write("GENRE")
    assert again().exit_code == 0 and again().exit_code == 0
    write("ARTIST")
    other = again()
    assert other.exit_code == 2 and "programs.0.files.tags: " in other.stderr, other.output
    config = json.loads((out / "config.json").read_text(encoding="utf-8"))
    del config["config"]["programs"][0]["files"]  # a run from before files were written down
    (out / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert again().exit_code == 0
