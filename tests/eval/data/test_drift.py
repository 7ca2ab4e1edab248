import pytest
from typer.testing import CliRunner

from eval.data import drift
from eval.data.load import load_benchmark
from eval.data.mini_generator.values import STARS
from eval.data.observations import established, executed_calls
from eval.data.preferences import Mapping
from eval.data.splits import check_disjoint, sources_of
from eval.tasks.mpt import load, read

BEFORE = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("drift")
    drift.generate(out, BEFORE, 7)
    return out


def test_one_side_is_established_before_the_change_and_the_other_after(folder):
    mapping = Mapping(STARS)
    records = drift.read_records(folder)
    assert len(records) >= 10
    for record in records:
        calls = [executed_calls(part) for part in (record.history.sessions[:BEFORE], record.history.sessions[BEFORE:])]
        old, new = (list(map(str, established(one, mapping))) for one in calls)
        assert record.meta.minority in old and record.meta.majority in new
        assert record.meta.minority not in new and record.meta.changed_after == BEFORE
        ids = [session.id for session in record.history.sessions]
        assert sorted(ids) == sorted(one for part in record.meta.parts for one in part.sessions)


def test_nobody_is_in_two_histories(folder):
    benchmark = load_benchmark(str(folder))
    names = list(benchmark.histories)
    check_disjoint({name: [name] for name in names}, sources_of(str(folder), benchmark.histories))


def test_queries_ask_for_the_new_preference(folder):
    mapping = Mapping(STARS)
    records = {record.history.id: record for record in drift.read_records(folder)}
    instances = read(str(folder), "both").instances
    assert {one.reasoning_type for one in instances} == {"recall", "induction", "transfer"}
    assert {one.schema_name for one in instances} == {"base", "extended"}
    for one in instances:
        meta = records[one.history_id].meta
        sides = {str(stance) for call in one.gold for stance in mapping.labels(call)}
        assert one.contested and meta.minority not in sides
        assert one.schema_name == "extended" or meta.majority in sides
        assert one.evidence.competing > 0


def test_a_run_knows_who_changed(folder):
    task = load(str(folder), 4, 0, query="both", schema="base").task({}, None, None)
    assert {task.changed[one.history_id] for one in task.instances} == {BEFORE}
    assert drift.changes("mini") == {} and drift.changes("mpt") == {}


def test_the_same_seed_gives_the_same_bytes(folder, tmp_path):
    result = CliRunner().invoke(_app(), ["--out", str(tmp_path / "again"), "--before", str(BEFORE)])
    assert result.exit_code == 0 and "histories" in result.stdout
    for name in ("histories.jsonl", "instances.jsonl", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_too_few_sessions_establish_nothing(tmp_path):
    result = CliRunner().invoke(_app(), ["--out", str(tmp_path), "--before", "1"])
    assert result.exit_code == 2 and "2 or more" in result.stderr


def _app():
    import typer

    app = typer.Typer()
    app.command()(drift.main)
    return app
