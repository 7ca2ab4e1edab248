"""`python -m eval.tagging`: a tagger scored on instructions with gold tags, resumable and within its budget."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from scripted_lm import Script, lm_of
from typer.testing import CliRunner

from eval.data.nlsi import MINI_NLSI
from eval.journal import read_lines
from eval.tagging import app, tagger_of
from prefine_dspy.tagging import Tagger, parse_tags, render_tags
from programs import load_system
from programs.tag_tables import COLUMNS, load_tags
from tests.programs.nlsi_lm import KnowingNlsi

N = 6


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """The first instructions of mini_nlsi's tags."""
    rows = list(load_tags(MINI_NLSI / "tags.csv").items())[:N]
    with (tmp_path / "gold.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return tmp_path / "gold.csv"


@pytest.fixture
def knowing(monkeypatch: pytest.MonkeyPatch) -> KnowingNlsi:
    made = KnowingNlsi()
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: made.lm)
    return made


def invoke(gold: Path, *words: str, tagger: str = "tagger") -> Any:
    arguments = ["--tagger", tagger, "--tags", str(gold), "--lm", "scripted", "--out", str(gold.parent / "run")]
    return CliRunner().invoke(app, [*arguments, *words])


def summary(gold: Path) -> dict[str, Any]:
    return dict(json.loads((gold.parent / "run/summary.json").read_text(encoding="utf-8")))


def test_right_tags_are_wholly_right(gold: Path, knowing: KnowingNlsi) -> None:
    result = invoke(gold)
    assert result.exit_code == 0, result.output
    assert "By token, macro (n=6" in result.stdout and f"{N} ok" in result.stdout
    found = summary(gold)
    assert found["tokens"]["f1"] == {"value": 100.0, "low": 100.0, "high": 100.0, "n": N}
    assert found["calls"]["em"]["value"] == 100.0
    assert found["cost"]["lm_calls"] == found["lm_calls_started"] == len(knowing.requests) == N
    assert found["cost"]["input_tokens_per_item"] > 0
    document = json.loads((gold.parent / "run/config.json").read_text(encoding="utf-8"))
    assert document["config"]["task"] == "tags"
    assert document["provenance"]["command"].startswith("python -m eval.tagging")


def test_wrong_unreadable_and_refused_answers_are_told_apart(gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tags = load_tags(gold)
    answers = [render_tags(parse_tags(one).tagged) for one in tags.values()]
    answers[1] = next(iter(tags))  # another sentence altogether
    answers[2] = "I would rather not say what this is about, because it is late and I am tired of it"
    one_word_less = list(tags)[3].rpartition(" ")[0]
    answers[3] = f"<a:GET_MUSIC> {one_word_less}</a>"
    script = Script([{"tags": answer} for answer in answers])
    monkeypatch.setattr("prefine_dspy.lm.resolve", lambda name, **options: lm_of(script))
    result = invoke(gold, tagger="tagger:form=inline")
    assert result.exit_code == 0, result.output
    items = read_lines(gold.parent / "run/items.jsonl")
    assert [one["status"] for one in items] == ["ok", "parse_error", "parse_error", "wrong", "ok", "ok"]
    assert items[1]["text"] == items[1]["instruction"] and items[1]["scores"]["f1"] < 1
    assert items[3]["words_dropped"] == 1
    assert summary(gold)["words"]["dropped"] >= 1 and summary(gold)["tokens"]["f1"]["value"] < 100


def test_the_budget_stops_and_resuming_pays_the_rest_only(gold: Path, knowing: KnowingNlsi) -> None:
    stopped = invoke(gold, "--max-calls", "2")
    assert stopped.exit_code == 3 and len(knowing.requests) == 2 and "--resume" in stopped.stderr
    assert invoke(gold).exit_code == 2  # not without --resume
    assert invoke(gold, "--resume").exit_code == 0
    assert len(knowing.requests) == N
    refused = invoke(gold, "--resume", "--seed", "1", "--limit", "3")
    assert refused.exit_code == 2 and "limit: null -> 3" in refused.stderr


def test_smaller_samples_begin_larger_ones(gold: Path, knowing: KnowingNlsi) -> None:
    for limit in (2, 4):
        assert invoke(gold, "--limit", str(limit), "--out", str(gold.parent / f"r{limit}")).exit_code == 0
    two, four = (read_lines(gold.parent / f"r{limit}/items.jsonl") for limit in (2, 4))
    assert [one["id"] for one in two] == [one["id"] for one in four][:2]


def test_a_program_that_has_a_tagger_lends_it() -> None:
    for name in ("tagger", "ext_tag", "taps", "tag_and_repair"):
        assert isinstance(tagger_of(name, {}), Tagger)
    assert load_system("tagger", form="inline").program.form == "inline"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tagger", "interpret"], "interpret has no tagger"),
        (["--tagger", "tagger:form=prose"], "form must be values or inline"),
        (["--tagger", "nobody"], "no program is called"),
        (["--tags", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input_is_one_line(gold: Path, knowing: KnowingNlsi, words: list[str], said: str) -> None:
    result = invoke(gold, *words)
    assert result.exit_code == 2 and said in result.stderr and result.stderr.count("\n") == 1
    assert not knowing.requests
