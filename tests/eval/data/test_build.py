"""The builder: from a small corpus of our own, and from the real one beside the checkout."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from eval.data import build as module
from eval.data.files import HISTORIES, INSTANCES, MANIFEST, STATS
from eval.data.load import load_benchmark

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
ARCHIVE = SHARED / "sgd.tar.gz"
HOMES = SHARED / "homebench" / "test.jsonl.gz"

app = typer.Typer()
app.command()(module.main)


def dialogue(name: str, service: str, parameters: dict[str, str]) -> dict[str, Any]:
    frame = {"service": service, "service_call": {"method": "Find", "parameters": parameters}, "actions": []}
    turns = [
        {"speaker": "USER", "utterance": "Could you do that?", "frames": []},
        {"speaker": "SYSTEM", "utterance": "It is done.", "frames": [frame]},
    ]
    return {"dialogue_id": name, "services": [service], "turns": turns}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder in SGD's form with cheap, dear, solitary and plain dialogues."""
    kinds = [
        ("RentalCars_1", {"type": "Compact"}),
        ("Hotels_4", {"star_rating": "1", "location": "Town"}),
        ("RentalCars_1", {"type": "Full-size"}),
        ("Hotels_4", {"star_rating": "5"}),
        ("Buses_1", {"travelers": "1"}),
        ("Events_1", {"number_of_seats": "1"}),
        *[("Weather_1", {"city": "Town"})] * 6,
    ]
    made = [dialogue(f"1_{n:05d}", *kinds[n % len(kinds)]) for n in range(240)]
    folder = tmp_path / "sgd"
    (folder / "dev").mkdir(parents=True)
    (folder / "dev" / "dialogues_001.json").write_text(json.dumps(made), encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (HISTORIES, INSTANCES, STATS, MANIFEST)}


def test_a_build_is_deterministic_and_can_be_loaded(corpus: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        module.build(tmp_path / name, seed, sgd_source=corpus)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") != contents(tmp_path / "c")
    loaded = load_benchmark(tmp_path / "a")
    assert {i.reasoning_type for i in loaded.instances} == {"recall", "induction", "transfer"}
    assert {i.query_type for i in loaded.instances} == {"cg", "cf"}
    assert any(i.contested for i in loaded.instances)
    assert load_benchmark(tmp_path / "a", schema="extended").instances


def test_statistics_add_up(corpus: Path, tmp_path: Path) -> None:
    stats = module.build(tmp_path / "out", 1, sgd_source=corpus)
    scale, rows = stats["table_7"], stats["table_8"]
    loaded = load_benchmark(tmp_path / "out")
    assert scale["instances_total"] == len(loaded.instances) == sum(row["total"] for row in rows.values())
    assert scale["histories"] == len((tmp_path / "out" / HISTORIES).read_text(encoding="utf-8").splitlines())
    assert {kind: row["total"] for kind, row in rows.items()} == scale["instances"]
    assert sum(scale["query_types"].values()) == scale["instances_total"]


def test_the_manifest_says_how(corpus: Path, tmp_path: Path) -> None:
    module.build(tmp_path / "out", 4, sgd_source=corpus, rules="released")
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text(encoding="utf-8"))
    assert (manifest["seed"], manifest["rules"], manifest["split"]) == (4, "released", "dev")
    assert len(manifest["inputs"]["sgd"]) == 64 and set(manifest["files"]) == {HISTORIES, INSTANCES, STATS}


def test_released_rules_ask_more(corpus: Path, tmp_path: Path) -> None:
    paper = module.build(tmp_path / "paper", 1, sgd_source=corpus)["table_7"]["instances"]
    released = module.build(tmp_path / "released", 1, sgd_source=corpus, rules="released")["table_7"]["instances"]
    assert released["induction"] > paper["induction"]


def test_the_command(corpus: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["--sgd", str(corpus), "--out", str(tmp_path / "out"), "--seed", "1"])
    assert result.exit_code == 0 and "instances ->" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no corpus to build from: give --sgd, --homebench or --durecdial"),
        (["--sgd", "nowhere"], "no dev/dialogues_*.json in nowhere"),
        (["--sgd", "nowhere", "--rules", "mine"], "no rules 'mine': use --rules paper or --rules released"),
        (["--homebench", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
        (["--durecdial", "nowhere"], "no en_train.txt, en_dev.txt or en_test.txt in nowhere"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert message in result.stderr and len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.shared_data
def test_sgd_dev_makes_hundreds_of_instances_in_seconds(tmp_path: Path) -> None:
    start = time.monotonic()
    stats = module.build(tmp_path / "out", 1, sgd_source=ARCHIVE)
    assert time.monotonic() - start < 20
    assert min(stats["table_7"]["instances"].values()) > 100
    assert stats["contested_histories"]["total"] >= 5
    assert {name for row in stats["table_8"].values() for name, n in row.items() if n} >= {"low_cost", "high_cost"}


@pytest.mark.shared_data
@pytest.mark.parametrize("rules", ["paper", "released"])
def test_sgd_and_homebench_together(tmp_path: Path, rules: Any) -> None:
    stats = module.build(tmp_path / "out", 2, sgd_source=ARCHIVE, homebench_file=HOMES, rules=rules)
    assert stats["histories_by_preference"]["eco"] > 20
    assert 10 < stats["table_7"]["sessions_per_history"] < 20
    assert len(load_benchmark(tmp_path / "out").instances) == stats["table_7"]["instances_total"]
