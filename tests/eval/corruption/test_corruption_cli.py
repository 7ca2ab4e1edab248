import csv
import json

import pytest
from typer.testing import CliRunner

from eval.corruption.__main__ import app

TAG = "[IN:GET_RESTAURANTS I like [SL:CUISINE Thai ] food. ]"


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["org", "aug"], ["I like Thai food.", TAG]])
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_files_are_written_and_the_run_is_printed(gold, tmp_path):
    out = tmp_path / "out"
    done = run("tags", "--tags", gold, "--out", out, "--share", 0, "--share", 1, "--seed", 3)
    assert done.exit_code == 0, done.output
    assert {one.name for one in out.iterdir()} == {"all-000-3.csv", "all-100-3.csv"}
    rows = {
        name: list(csv.DictReader((out / name).open(encoding="utf-8"))) for name in ("all-000-3.csv", "all-100-3.csv")
    }
    assert rows["all-000-3.csv"][0]["aug"] != rows["all-100-3.csv"][0]["aug"]
    assert f"--program ext_tag:tags={out / 'all-100-3.csv'}" in done.output


def test_the_curve_of_a_run(tmp_path):
    lines = [
        {"id": str(number), "program": f"ext_tag:tags=x/all-{share}-0.csv", "scores": {"strict": {"f1": f1}}}
        for share, f1 in (("000", 1.0), ("100", 0.5))
        for number in range(3)
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    done = run("curve", tmp_path)
    assert done.exit_code == 0, done.output
    rows = [" ".join(line.split()) for line in done.output.splitlines()]
    assert any(row.startswith("| 0 % | 100.0") for row in rows) and any(
        row.startswith("| 100 % | 50.0") for row in rows
    )
    assert (tmp_path / "corruption.png").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("tags", "--tags", "missing.csv", "--out", "x", "--share", 0),
        ("curve", "missing"),
    ],
)
def test_what_cannot_be_used_is_one_line(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2 and done.output.startswith("error: ") and done.output.count("\n") == 1


def test_an_unknown_strategy_is_refused(gold, tmp_path):
    done = run("tags", "--tags", gold, "--out", tmp_path / "o", "--share", 0, "--strategy", "magic")
    assert done.exit_code == 2 and "semantic_slot" in done.output


def test_shares_that_no_file_name_can_say_are_refused(gold, tmp_path):
    done = run("tags", "--tags", gold, "--out", tmp_path / "o", "--share", 0.29, "--share", 0.125)
    assert done.exit_code == 2 and "--share 0.125" in done.output and "use 0.12" in done.output
    assert not (tmp_path / "o").exists()
    assert run("tags", "--tags", gold, "--out", tmp_path / "o", "--share", 0.29).exit_code == 0


@pytest.mark.parametrize("scores", [{}, {"scores": None}, {"scores": {"strict": {"f1": "high"}}}])
def test_an_item_without_f1_is_one_line(scores, tmp_path):
    line = {"id": "a", "program": "ext_tag:tags=all-050-0.csv", **scores}
    (tmp_path / "items.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    done = run("curve", tmp_path)
    assert done.exit_code == 2 and "item 'a' has no F1" in done.output


def test_items_of_no_program_are_no_curve(tmp_path):
    (tmp_path / "items.jsonl").write_text('{}\n{"program": 5}\n', encoding="utf-8")
    done = run("curve", tmp_path)
    assert done.exit_code == 2 and "holds no run over corrupted tags" in done.output


def test_gold_without_tags_that_fit_is_refused(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("org,aug\nPlay some Jazz whenever I come home,[IN:GET_X other words ]\n", encoding="utf-8")
    done = run("tags", "--tags", gold, "--out", tmp_path / "out", "--share", 1)
    assert done.exit_code == 2 and "keep their instruction's words" in done.output
