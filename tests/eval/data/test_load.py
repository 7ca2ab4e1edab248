"""Loading by name or path, and what a broken file is told."""

import json
from pathlib import Path

import pytest

from eval.data.catalogue import unseen_functions
from eval.data.load import MINI, catalogue_of, load_benchmark
from prefine_dspy.errors import InputError


def copy_of_mini(folder: Path) -> Path:
    for file in MINI.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_mini() -> None:
    loaded = load_benchmark("mini")
    assert loaded.name == "mini" and len(loaded.histories) >= 24
    assert all(instance.schema_name == "base" for instance in loaded.instances)
    assert all(instance.history_id in loaded.histories for instance in loaded.instances)
    assert loaded == load_benchmark("mini")._replace(catalogues=loaded.catalogues)


def test_extended_asks_for_functions_unseen_in_any_history() -> None:
    loaded = load_benchmark("mini", schema="extended")
    assert loaded.instances and {i.gold[0].name for i in loaded.instances} == set(unseen_functions())
    called = {c.name for h in loaded.histories.values() for s in h.sessions for c in s.calls}
    assert not called & set(unseen_functions())
    assert loaded.identity != load_benchmark("mini").identity


def test_every_gold_call_fits_the_catalogue_that_is_shown() -> None:
    for schema in ("base", "extended"):
        loaded = load_benchmark("mini", schema=schema)
        for instance in loaded.instances:
            for call in instance.gold:
                assert catalogue_of(loaded, instance).problems(call) == []


def test_a_folder_is_the_same_as_its_name(tmp_path: Path) -> None:
    assert load_benchmark(copy_of_mini(tmp_path)).identity == load_benchmark("mini").identity


def test_a_byte_of_difference_shows(tmp_path: Path) -> None:
    copy_of_mini(tmp_path)
    text = (tmp_path / "histories.jsonl").read_text(encoding="utf-8")
    (tmp_path / "histories.jsonl").write_text(text.replace("Thanks.", "Thanks!", 1), encoding="utf-8")
    assert load_benchmark(tmp_path).identity != load_benchmark("mini").identity


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no benchmark 'maxi': use mini, mpt"):
        load_benchmark("maxi")
    with pytest.raises(InputError, match="no schema 'huge'"):
        load_benchmark("mini", schema="huge")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has no histories.jsonl: make one with"):
        load_benchmark(tmp_path)


def test_malformed_lines_name_file_and_line(tmp_path: Path) -> None:
    copy_of_mini(tmp_path)
    lines = (tmp_path / "instances.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "instances.jsonl").write_text("\n".join([lines[0], lines[1][:-4]]), encoding="utf-8")
    with pytest.raises(InputError, match=r"instances.jsonl:2: not JSON"):
        load_benchmark(tmp_path)
    broken = json.loads(lines[1])
    del broken["query_type"]
    (tmp_path / "instances.jsonl").write_text("\n".join([lines[0], json.dumps(broken)]), encoding="utf-8")
    with pytest.raises(InputError, match=r"instances.jsonl:2: key 'query_type'"):
        load_benchmark(tmp_path)
    (tmp_path / "instances.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="not UTF-8"):
        load_benchmark(tmp_path)


def test_an_instance_without_its_history(tmp_path: Path) -> None:
    copy_of_mini(tmp_path)
    lines = (tmp_path / "histories.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "histories.jsonl").write_text("\n".join(lines[1:]), encoding="utf-8")
    with pytest.raises(InputError, match="instances refer to history"):
        load_benchmark(tmp_path)


def test_mpt_without_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import datasets
    import huggingface_hub

    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("no route to the hub\nmore")

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", unreachable)
    with pytest.raises(InputError, match=r"cannot load HYU-NLP/MPT .*\(no route to the hub\): use mini, or give"):
        load_benchmark("mpt")


@pytest.mark.parametrize("file", ["histories.jsonl", "instances.jsonl"])
def test_an_id_that_is_there_twice(tmp_path: Path, file: str) -> None:
    copy_of_mini(tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    (tmp_path / file).write_text(text.partition("\n")[0] + "\n" + text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{file}: id '.*' is there more than once"):
        load_benchmark(tmp_path)


def test_half_a_character_and_numbers_without_end(tmp_path: Path) -> None:
    copy_of_mini(tmp_path)
    file = tmp_path / "histories.jsonl"
    first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    file.write_text(first.replace('"text":"', '"text":"\\ud800', 1) + "\n" + rest, encoding="utf-8")
    with pytest.raises(InputError, match="holds half a character"):
        load_benchmark(tmp_path)
    file.write_text('{"id":' + "9" * 5000 + "}\n", encoding="utf-8")
    with pytest.raises(InputError, match="histories.jsonl:1: cannot be used: Exceeds the limit"):
        load_benchmark(tmp_path)
