"""The shipped mini data: what it promises, and that it is what the generator writes."""

from collections import Counter
from pathlib import Path

from typer.testing import CliRunner

from eval.data.catalogue import base_catalogue
from eval.data.files import HISTORIES, INSTANCES, MANIFEST, STATS, read_instances, read_records
from eval.data.load import MINI
from eval.data.mini_generator.__main__ import generate
from eval.data.mini_generator.values import STARS
from eval.data.preferences import PREFERENCES, Mapping
from eval.data.verify import verify_build

RECORDS = read_records(MINI)
FOUND = read_instances(MINI)


def test_the_committed_files_are_the_generators_output(tmp_path: Path) -> None:
    generate(tmp_path, seed=7)
    for name in (HISTORIES, INSTANCES, STATS, MANIFEST):
        assert (tmp_path / name).read_bytes() == (MINI / name).read_bytes(), f"make it anew: {name}"
    generate(tmp_path, seed=8)
    assert (tmp_path / HISTORIES).read_bytes() != (MINI / HISTORIES).read_bytes()


def test_size() -> None:
    assert len(RECORDS) >= 24
    assert all(8 <= len(record.history.sessions) <= 12 for record in RECORDS)
    assert sum(file.stat().st_size for file in MINI.iterdir()) < 1_000_000


def test_it_covers_everything() -> None:
    base = Counter((i.reasoning_type, i.query_type) for i in FOUND if i.schema_name == "base")
    assert len(base) == 6 and min(base.values()) >= 20
    assert {i.preference for i in FOUND} == {*PREFERENCES, "other"}
    for kind in ("recall", "induction", "transfer"):
        assert {i.preference for i in FOUND if i.reasoning_type == kind} >= set(PREFERENCES)
    contested = [record for record in RECORDS if record.meta.contested]
    assert 0.25 <= len(contested) / len(RECORDS) <= 0.45
    assert {record.meta.arrangement for record in contested} == {"ordered", "shuffled"}
    assert {i.schema_name for i in FOUND} == {"base", "extended"}


def test_it_keeps_the_promises_of_a_build() -> None:
    verify_build(RECORDS, FOUND, Mapping(STARS), "paper")


def test_dialogues() -> None:
    texts = [turn.text for record in RECORDS for s in record.history.sessions for turn in s.turns]
    assert len(set(texts)) > 400
    for record in RECORDS:
        for session in record.history.sessions:
            assert len(session.turns) >= 3 or len(session.calls[0].arguments) < 3
            assert [turn.role for turn in session.turns] == [
                ("user", "assistant")[k % 2] for k in range(len(session.turns))
            ]
            executed = [call for turn in session.turns for call in turn.calls]
            assert executed[-1:] == list(session.calls)
            for call in session.calls:
                assert base_catalogue().problems(call) == []
    assert not any("{" in text or "_" in text for text in texts)


def test_preferences_are_never_said() -> None:
    for record in RECORDS:
        for session in record.history.sessions:
            for turn in session.turns:
                words = turn.text.lower()
                assert not any(w in words for w in ("prefer", "always", "usually", "favourite", "my kind of", "never"))


def test_the_command(tmp_path: Path) -> None:
    import typer

    from eval.data.mini_generator.__main__ import main

    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, ["--out", str(tmp_path / "mini"), "--seed", "3"])
    assert result.exit_code == 0 and "histories" in result.output and (tmp_path / "mini" / HISTORIES).is_file()
