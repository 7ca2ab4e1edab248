import json
from datetime import datetime

import pytest
from typer.testing import CliRunner

from eval.bench_scoring import recorded
from eval.score import TASKS, Settings, app

GOLD = {
    "b": ['GetFlights(flight_class="Economy", origin="Oslo")'],
    "a": ['GetHotels(average_star="1")', 'GetHotels(average_star="2")'],
}
PREDICTIONS = {"a": "GetHotels(average_star=2)", "b": ["GetFlights(flight_class='economy', origin='Oslo')"]}


@pytest.fixture
def files(tmp_path):
    def write(name, column, values):
        lines = [json.dumps({"id": one, column: value}) for one, value in values.items()]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    write("gold.jsonl", "gold", GOLD)
    write("pred.jsonl", "prediction", PREDICTIONS)
    write.folder = tmp_path
    return write


def score(folder, *options, task="mpt"):
    files = ["--gold", str(folder / "gold.jsonl"), "--pred", str(folder / "pred.jsonl")]
    return CliRunner().invoke(app, ["--task", task, *files, *options])


def test_one_line_an_item_in_gold_order_and_a_summary_on_stderr(files):
    result = score(files.folder, "--scorer", "reference", "--today", "2026-06-15T12:00:00")
    assert result.exit_code == 0
    items = [json.loads(line) for line in result.stdout.splitlines()]
    assert [item["id"] for item in items] == ["b", "a"]
    assert items[0]["pref"] == {"tp": 0, "fp": 1, "fn": 1, "precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert items[0]["nonpref"]["tp"] == 1
    assert (items[1]["pref_exact_match"], items[1]["parse_failed"]) == (1, False)
    assert "O-F1" in result.stderr
    assert "dateparser" in result.stderr
    assert "2026-06-15T12:00:00" in result.stderr


def test_the_strict_scorer_reads_tolerantly(files):
    items = [json.loads(line) for line in score(files.folder, "--scorer", "strict").stdout.splitlines()]
    assert [item["overall"]["f1"] for item in items] == [1.0, 1.0]


def test_today_reaches_the_reference_scorer(files):
    files("gold.jsonl", "gold", {"a": ['GetWeather(date="tomorrow")']})
    files("pred.jsonl", "prediction", {"a": "GetWeather(date='2026-01-02')"})
    for today, tp in (("2026-01-01", 1), ("2026-01-05", 0)):
        item = json.loads(score(files.folder, "--scorer", "reference", "--today", today).stdout)
        assert item["overall"]["tp"] == tp


@pytest.mark.parametrize("today", ["2026-01-01", "2026-01-01T12:00:00", "2026-01-01T12:00Z", "2026-01-01T23:00+00:00"])
def test_today_in_all_iso_forms(files, today):
    assert score(files.folder, "--today", today).exit_code == 0


@pytest.mark.parametrize("today", ["soon", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_today_that_is_no_date(files, today):
    result = score(files.folder, "--today", today)
    assert result.exit_code == 2
    assert f"--today {today!r} is no ISO date" in result.stderr


def test_the_unseen_functions_have_preference_slots_only_in_the_extended_schema(files):
    files("gold.jsonl", "gold", {"a": ['GetSkiPass(pass_type="VIP pass")']})
    files("pred.jsonl", "prediction", {"a": ""})
    for schema, fn in (("base", 0), ("extended", 1)):
        item = json.loads(score(files.folder, "--scorer", "reference", "--schema", schema).stdout)
        assert item["pref"]["fn"] == fn


def test_a_missing_prediction_is_an_error_or_an_empty_answer(files):
    files("pred.jsonl", "prediction", {"a": "GetHotels(average_star=2)"})
    result = score(files.folder)
    assert result.exit_code == 2
    assert "1 gold items have no prediction: 'b'" in result.stderr
    assert "--missing empty" in result.stderr
    items = [json.loads(line) for line in score(files.folder, "--missing", "empty").stdout.splitlines()]
    assert items[0]["overall"]["fn"] == 2
    assert items[0]["parse_failed"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "pred.jsonl",
            '{"id": "a", "prediction": ""}\n\n{"id": "a", "prediction": ""}',
            "line 3: id 'a' is there already",
        ),
        ("pred.jsonl", '{"id": "a", "prediction": ""}\n{oops', "pred.jsonl, line 2: is not JSON"),
        ("pred.jsonl", "[1]", "pred.jsonl, line 1: must be a JSON object, not list"),
        ("pred.jsonl", '{"id": "a"}', "pred.jsonl, line 1: id 'a' has no \"prediction\""),
        ("gold.jsonl", '{"gold": []}', 'gold.jsonl, line 1: needs an "id"'),
        ("gold.jsonl", '{"id": null, "gold": []}', 'gold.jsonl, line 1: needs an "id"'),
        ("gold.jsonl", "\n", "gold.jsonl holds no items"),
        (
            "gold.jsonl",
            '{"id": "a", "gold": [1]}\n{"id": "b", "gold": []}',
            "id 'a': \"gold\" must be a list of call",
        ),
        ("pred.jsonl", '{"id": "z", "prediction": ""}', "1 predictions have no gold: 'z'"),
        ("pred.jsonl", "[" * 100_000, "pred.jsonl, line 1: is not JSON"),
    ],
)
def test_bad_input_gets_one_line_that_names_file_and_line(files, name, content, message):
    (files.folder / name).write_text(content, encoding="utf-8")
    result = score(files.folder)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_bytes_that_are_not_utf_8(files):
    (files.folder / "pred.jsonl").write_bytes(b'{"id": "a", "prediction": "\xff"}')
    assert "line 1: is not UTF-8" in score(files.folder).stderr


def test_a_byte_order_mark_and_windows_line_ends_are_fine(files):
    text = (files.folder / "gold.jsonl").read_text(encoding="utf-8").replace("\n", "\r\n")
    (files.folder / "gold.jsonl").write_text(text, encoding="utf-8-sig", newline="")
    assert score(files.folder).exit_code == 0


def test_unknown_choices_name_the_known_ones(files):
    assert "unknown task 'x': choose from mpt" in score(files.folder, task="x").stderr
    assert "choose from reference, strict" in score(files.folder, "--scorer", "x").stderr
    (files.folder / "pred.jsonl").unlink()
    assert "cannot read" in score(files.folder).stderr


@pytest.mark.parametrize("scorer", ["reference", "strict"])
def test_the_benchmark_s_answers_can_be_scored(scorer):
    scored = TASKS["mpt"].scorers[scorer](recorded(200), Settings(today=datetime(2026, 6, 15)))
    f1 = [item["overall"]["f1"] for item in scored.items]
    assert len(f1) == 200
    assert 0.3 < sum(f1) / len(f1) < 0.9
