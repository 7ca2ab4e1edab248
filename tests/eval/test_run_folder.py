"""A run's folder: locks, refusals, torn lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_run import ChainSystem, ScriptedEngine, config_of, scripted_lm, scripted_run, tiny_benchmark

from eval.journal import Journal, read_lines, write_whole
from eval.run_config import RunConfig, differences, fingerprint
from eval.run_folder import RunFolder
from prefine_dspy.errors import InputError


def config(**changes: object) -> RunConfig:
    return config_of({"chain": ChainSystem()}, tiny_benchmark(), scripted_lm(ScriptedEngine()), **changes)


def test_an_existing_run_needs_resume(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", config(), resume=False) as folder:
        folder.items.append({"id": "1"})
    with pytest.raises(InputError, match="holds a run already: add --resume"):
        RunFolder(tmp_path / "run", config(), resume=False).__enter__()
    with RunFolder(tmp_path / "run", config(), resume=True):
        pass


def test_a_run_that_did_nothing_is_begun_again(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", config(seed=1), resume=False):
        pass
    (tmp_path / "run/items.jsonl").write_text('{"id": "torn', encoding="utf-8")
    with RunFolder(tmp_path / "run", config(seed=2), resume=False) as folder:
        folder.items.append({"id": "1"})
        assert folder.items.read() == [{"id": "1"}]
    assert json.loads((tmp_path / "run/config.json").read_text(encoding="utf-8"))["config"]["seed"] == 2


def test_another_configuration_is_refused_key_by_key(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", config(), resume=False):
        pass
    with pytest.raises(InputError) as refused:
        RunFolder(tmp_path / "run", config(seed=3, query="cg"), resume=True).__enter__()
    assert str(refused.value).splitlines()[1:] == ['  query: "both" -> "cg"', "  seed: 0 -> 3"]
    assert json.loads((tmp_path / "run/config.json").read_text(encoding="utf-8"))["config"]["seed"] == 0


def test_differences_look_inside() -> None:
    before = {"lm": {"model": "a", "settings": {}}, "programs": [{"label": "p", "fingerprint": "1"}]}
    now = {"lm": {"model": "b", "settings": {}}, "programs": [{"label": "p", "fingerprint": "2"}]}
    assert differences(before, now) == ['  lm.model: "a" -> "b"', '  programs.0.fingerprint: "1" -> "2"']
    assert differences(before, before) == []


def test_a_changed_prompt_changes_the_fingerprint() -> None:
    program = ChainSystem().program
    before = fingerprint(program)
    program.signature = program.signature.with_instructions("Think.")
    assert fingerprint(program) != before


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path / "run", config(), resume=True),
        pytest.raises(InputError, match="another process is writing"),
    ):
        RunFolder(tmp_path / "run", config(), resume=True).__enter__()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="holds no run"):
        RunFolder(tmp_path, config(), resume=True).__enter__()
    with pytest.raises(InputError, match="is a file"):
        RunFolder(tmp_path / "thesis.tex", config(), resume=True).__enter__()


def test_a_torn_last_line_is_repaired(tmp_path: Path) -> None:
    out = tmp_path / "run"
    scripted_run(out, ScriptedEngine())
    whole = (out / "items.jsonl").read_bytes()
    (out / "items.jsonl").write_bytes(whole[:-100])
    assert len(read_lines(out / "items.jsonl")) == 23
    again = ScriptedEngine()
    scripted_run(out, again)
    assert again.calls == 0
    items = read_lines(out / "items.jsonl")
    assert len(items) == 24
    assert items[-1]["usage"]["cached_calls"] == items[-1]["usage"]["lm_calls"] == 1


def test_a_damaged_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"a": 1}\nnot json\n{"a": 2}\n', encoding="utf-8")
    with pytest.raises(InputError, match="items.jsonl:2 is not a JSON object"):
        read_lines(path)


def test_a_journal_keeps_odd_text_on_one_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    record = {"text": "line\u2028separator \x85 \n \r\n 日本 \x00"}
    journal.append(record)
    journal.append({"broken": "\ud800"})
    journal.close()
    lines = journal.read()
    assert lines == [record, {"broken": "\ud800"}]


def test_writing_whole_leaves_nothing_behind(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", "1")
    write_whole(tmp_path / "a.json", "2")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == "2"


def test_no_secret_reaches_the_folder(tmp_path: Path) -> None:
    import dspy

    from eval.run_config import LMConfig

    lm = dspy.LM("openai/x", api_key="CANARY", api_base="http://CANARY", extra_headers={"a": "CANARY"}, temperature=0.5)
    described = LMConfig.of("openai/x", lm)
    assert "CANARY" not in described.model_dump_json()
    assert described.settings == {"temperature": 0.5}
