"""`--data` decides the benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_nlsi import nlsi_folder, nlsi_record

from eval.data.files import HISTORIES
from eval.tasks.kinds import KINDS, kind_of
from prefine_dspy.errors import InputError
from programs import SYSTEMS, systems_for


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[("mini", "mpt"), ("mpt", "mpt"), ("mini_nlsi", "nlsi"), ("nlsi", "nlsi")],
        *[("builtin", "episodes"), ("builtin:test", "episodes"), ("tau:airline", "episodes"), ("vita:ota", "episodes")],
    ],
)
def test_names(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_folders_are_told_by_their_files(tmp_path: Path) -> None:
    assert kind_of(str(tmp_path)) == "mpt"
    assert kind_of(str(nlsi_folder(tmp_path / "nlsi"))) == "nlsi"
    (tmp_path / "nlsi" / HISTORIES).write_text("", encoding="utf-8")
    assert kind_of(str(tmp_path / "nlsi")) == "mpt"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (json.dumps(nlsi_record(1)) + "\n", "nlsi"),
        ("\n\n" + json.dumps(nlsi_record(1)), "nlsi"),
        ('{"example_id": "1", "sessions": []}\n', "mpt"),
        ("[{}]", "mpt"),
        ("no JSON", "mpt"),
        ("", "mpt"),
        ("[" * 100_000, "mpt"),
    ],
)
def test_files_are_told_by_their_first_record(tmp_path: Path, text: str, kind: str) -> None:
    (tmp_path / "data.jsonl").write_text(text, encoding="utf-8")
    assert kind_of(str(tmp_path / "data.jsonl")) == kind


def test_a_file_that_is_no_text_is_left_to_the_loader(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_bytes(b"\xff\xfe\x00")
    assert kind_of(str(tmp_path / "data.jsonl")) == "mpt"


def test_a_bad_byte_in_a_later_line_does_not_make_it_anothers(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"user_utterance": "User: hi"}\n{"a": "\xff"}\n')
    assert kind_of(str(file)) == "nlsi"


def test_nothing_of_that_name() -> None:
    with pytest.raises(InputError, match="no data 'nowhere': use mini, mpt, mini_nlsi, nlsi"):
        kind_of("nowhere")


def test_every_program_is_for_a_benchmark_that_there_is() -> None:
    assert {entry.task for entry in SYSTEMS.values()} == {*KINDS, "tags"}
    assert systems_for("tags") == ["tagger"]  # of eval.tagging
    assert sorted(name for kind in (*KINDS, "tags") for name in systems_for(kind)) == sorted(SYSTEMS)
