"""`python -m eval.score --task nlsi` and `--task tags`."""

import json

import pytest
from typer.testing import CliRunner

from eval.score import app

DINNER = 'GetRestaurants(city="SF", cuisine="Thai")'
TAGGED = "[IN:GET_SALONS in [SL:CITY Napa ] ]"


def run(folder, gold, predictions, *options, task="nlsi"):
    """Gold lines, and predictions by position."""
    files = {
        "gold": gold,
        "pred": [{"id": line["id"], "prediction": p} for line, p in zip(gold, predictions, strict=True)],
    }
    arguments = ["--task", task]
    for name, lines in files.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        arguments += [f"--{name}", str(path)]
    return CliRunner().invoke(app, [*arguments, *options])


def items(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "places.json"
    path.write_text(json.dumps({"sf": "sf", "san francisco": "sf"}), encoding="utf-8")
    return path


def test_reference_figures_an_item(tmp_path, places):
    gold = [{"id": 1, "gold": [DINNER]}, {"id": "b", "gold": [DINNER]}]
    answers = [f"{DINNER}\n{DINNER}", ['GetRestaurants(city="San Francisco")']]
    result = run(tmp_path, gold, answers, "--scorer", "reference", "--locations", str(places))
    assert items(result) == [
        {"id": 1, "em": 1.0, "em_length_checked": 0.0, "f1": 1.0, "precision": 1.0, "recall": 1.0},
        {"id": "b", "em": 0.0, "em_length_checked": 0.0, "f1": pytest.approx(2 / 3), "precision": 1.0, "recall": 0.5},
    ]
    assert "locations: places.json with 2 entries" in result.stderr
    assert "EM  50.0 (length-checked   0.0)  F1  83.3  P 100.0  R  75.0" in result.stderr


def test_the_strict_scorer_is_the_default(tmp_path):
    gold = [{"id": 1, "gold": ['GetMovies(genre="any")']}]
    (item,) = items(run(tmp_path, gold, ['[{"name": "GetMovies", "arguments": {"genre": "any"}}]']))
    assert item["em"] == item["em_length_checked"] == item["f1"] == 1.0


def test_the_strict_scorer_knows_the_types_of_arguments(tmp_path):
    gold = [{"id": n, "gold": [call]} for n, call in enumerate(('GetHotels(has_wifi="yes")', 'GetBanks(amount="yes")'))]
    answers = ['GetHotels(has_wifi="True")', 'GetBanks(amount="True")']
    assert [item["em"] for item in items(run(tmp_path, gold, answers))] == [1.0, 0.0]


def test_reasoning_types_get_their_own_lines_in_the_paper_s_order(tmp_path):
    gold = [
        {"id": 1, "gold": [DINNER], "reasoning_type": "Conflict"},
        {"id": 2, "gold": [DINNER], "reasoning_type": "Plain"},
        {"id": 3, "gold": [DINNER], "reasoning_type": "Plain"},
        {"id": 4, "gold": [DINNER]},
    ]
    result = run(tmp_path, gold, [DINNER, DINNER, "", DINNER])
    assert [item.get("reasoning_type") for item in items(result)] == ["Conflict", "Plain", "Plain", None]
    lines = [line.split()[0] for line in result.stderr.splitlines()]
    assert lines[-3:] == ["all", "Plain", "Conflict"]
    assert "EM  50.0" in result.stderr.splitlines()[-2]


def test_gold_that_is_no_list_of_calls_is_refused(tmp_path):
    result = run(tmp_path, [{"id": 1, "gold": DINNER}], [DINNER])
    assert result.exit_code == 2
    assert 'id 1: "gold" must be a list of call strings' in result.stderr


def test_a_missing_table_is_refused(tmp_path):
    options = ("--scorer", "reference", "--locations", str(tmp_path / "none.json"))
    result = run(tmp_path, [{"id": 1, "gold": [DINNER]}], [DINNER], *options)
    assert result.exit_code == 2
    assert "none.json" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_tags_by_token_in_either_form(tmp_path):
    gold = [{"id": 1, "gold": TAGGED}, {"id": 2, "gold": TAGGED}, {"id": 3, "gold": TAGGED}]
    answers = ["<a:GET_SALONS> in <sl:CITY>Napa</sl></a>", "in Napa", None]
    result = run(tmp_path, gold, answers, task="tags")
    first, second, third = items(result)
    assert first == {"id": 1, "f1": 1.0, "precision": 1.0, "recall": 1.0, "aligned": True, "actions_right": True}
    assert second["f1"] == pytest.approx(1 / 3)
    assert (third["f1"], third["aligned"]) == (0.0, False)
    assert "items: 3, of which 1 with changed words" in result.stderr


def test_tags_as_published(tmp_path):
    gold = [{"id": 1, "gold": TAGGED}, {"id": 2, "gold": "[IN:GET_SALONS none ]"}]
    result = run(tmp_path, gold, [TAGGED, TAGGED], "--scorer", "reference", task="tags")
    first, second = items(result)
    assert first["em"] == first["f1"] == first["func_f1"] == 1.0
    assert second == {"id": 2, "error": "GetSalons() has no slot"}
    assert "of which 1 cannot be scored" in result.stderr


def test_tags_that_are_no_text_are_refused_as_gold(tmp_path):
    result = run(tmp_path, [{"id": 1, "gold": [TAGGED]}], [TAGGED], task="tags")
    assert result.exit_code == 2
    assert "must be a tagged text" in result.stderr


@pytest.mark.shared_data
def test_the_open_cases_through_the_command_line_without_further_options(tmp_path, shared_data):
    cases = json.loads((shared_data / "nlsi_metric_cases_open.json").read_text(encoding="utf-8"))["cases"]
    gold = [{"id": case["id"], "gold": case["gold_api_calls"]} for case in cases]
    result = run(tmp_path, gold, [case["prediction"] for case in cases], "--scorer", "reference")
    columns = ("em", "em_length_checked", "f1", "precision", "recall")
    got = [[item[column] for column in columns] for item in items(result)]
    assert got == [pytest.approx([case["expected"][column] for column in columns]) for case in cases]
