"""A run on a Ray cluster is the run of one process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="pip install 'prefine-dspy[ray]'")

import ray_world
from chat_server import chat_server
from scripted_run import ScriptedEngine, config_of, scripted_run
from typer.testing import CliRunner

from eval.engines.on_worker import task_on_worker
from eval.engines.ray_engine import RayEngine
from eval.failures import LMErrorsInARowError
from eval.journal import read_lines
from eval.run import app
from eval.run_folder import RunFolder
from eval.runner import run
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError

ROOT = Path(__file__).resolve().parents[3]
CALLS = 12 * 3 + 24
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    """One for all tests here; it is what takes time. Workers find this folder's modules."""
    import ray

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "eval")])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with started(tries=3):
        yield
    assert not ray.is_initialized()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@contextmanager
def started(tries: int) -> Iterator[None]:
    """A cluster; Ray gives its own processes half a minute to start, which on a busy machine is too little."""
    with ExitStack() as stack:
        for left in reversed(range(tries)):
            try:
                stack.enter_context(RayEngine(ray_world.task)._cluster(2))
                break
            except InputError:
                if not left:
                    raise
        yield


def on_ray(out: Path, make_task: Callable[[], Any] = ray_world.task, workers: int = 2, **options: Any) -> Any:
    here = ray_world.task()
    with RunFolder(out, config_of(here.systems, here.benchmark, here.lm), resume=True) as folder:
        return run(folder, here, num_threads=workers, engine=RayEngine(make_task), **options)


def without_time(path: Path) -> list[dict[str, Any]]:
    records = read_lines(path)
    for record in records:
        record.pop("seconds")
        record["usage"].pop("lm_seconds")
        record["usage"].pop("cached_calls")
    return sorted(records, key=lambda r: (r["program"], r["history_id"], r.get("session", 0), r.get("id", "")))


def check_same(out: Path, whole: Path) -> None:
    for name in ("memories.jsonl", "items.jsonl"):
        assert without_time(out / name) == without_time(whole / name)
    summaries = [json.loads((one / "summary.json").read_text(encoding="utf-8")) for one in (out, whole)]
    assert summaries[0]["programs"]["chain"]["scores"] == summaries[1]["programs"]["chain"]["scores"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    scripted_run(out, ScriptedEngine())
    return out


def asked(log: Path) -> list[str]:
    return [line.split()[2] for line in log.read_text(encoding="utf-8").splitlines()]


def test_the_same_items_memories_and_numbers(tmp_path: Path, whole: Path) -> None:
    log = tmp_path / "calls"
    summary = on_ray(tmp_path / "run", partial(ray_world.task, log, 0.02))
    check_same(tmp_path / "run", whole)
    assert summary["lm_calls_started"] == CALLS == len(set(asked(log))) == len(asked(log))
    assert len({line.split()[0] for line in log.read_text(encoding="utf-8").splitlines()}) == 2, "two workers"
    on_ray(tmp_path / "run", partial(ray_world.task, log))
    assert len(asked(log)) == CALLS, "a finished run asks nothing"


@pytest.mark.parametrize(
    "deaths",
    [
        # in the middle of a memory and of a history's queries, one of them twice
        ("h1s1.1", "h2s2.1", "h2s2.2", "h3q1.1"),
        # when the other worker is idle, which takes over and has not seen what the dead one did
        ("h3s2.1",),
    ],
)
def test_a_worker_that_dies_loses_nothing(tmp_path: Path, whole: Path, deaths: tuple[str, ...]) -> None:
    """Every line is there once, and no answer is paid for again."""
    dying = tmp_path / "dying"
    dying.mkdir()
    for name in deaths:
        (dying / name).touch()
    log = tmp_path / "calls"
    on_ray(tmp_path / "run", partial(ray_world.task, log, 0.01, dying))
    assert list(dying.iterdir()) == []
    check_same(tmp_path / "run", whole)
    assert len(set(asked(log))) == len(asked(log)) == CALLS


def test_a_group_that_kills_every_worker_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(PrefineError, match="3 workers died one after the other on the same group"):
        on_ray(tmp_path / "run", ray_world.broken_task, workers=1)


def test_the_budget_holds_over_all_workers(tmp_path: Path, whole: Path) -> None:
    log = tmp_path / "calls"
    make = partial(ray_world.task, log, 0.01)
    for calls in (7, 19, 40):
        with pytest.raises(BudgetExhausted, match=f"--max-calls {calls} reached"):
            on_ray(tmp_path / "run", make, max_calls=calls)
        assert len(asked(log)) == calls
    assert on_ray(tmp_path / "run", make, max_calls=CALLS)["lm_calls_started"] == CALLS
    assert len(asked(log)) == CALLS
    check_same(tmp_path / "run", whole)


def test_errors_in_a_row_stop_the_run_and_a_resumed_one_mends_it(tmp_path: Path, whole: Path) -> None:
    with pytest.raises(LMErrorsInARowError):
        on_ray(tmp_path / "run", partial(ray_world.task, None, 0.0, None, True), errors_in_a_row=1)
    on_ray(tmp_path / "run")
    check_same(tmp_path / "run", whole)


def test_items_after_a_failed_update_are_those_of_one_process(tmp_path: Path) -> None:
    """The memory goes on without the session; `--resume` would do it again, this run does not."""
    here = ray_world.task(down=True)
    with RunFolder(tmp_path / "one", config_of(here.systems, here.benchmark, here.lm), resume=True) as folder:
        run(folder, here)
    on_ray(tmp_path / "run", partial(ray_world.task, None, 0.0, None, True))
    check_same(tmp_path / "run", tmp_path / "one")


def test_what_a_worker_lacks_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no weights here"):
        on_ray(tmp_path / "run", ray_world.no_task)


def test_more_workers_than_cpus_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 2 CPUs, each worker takes one: give --num-threads 2"):
        on_ray(tmp_path / "run", workers=3)


def test_the_command_makes_its_task_again_on_each_worker(tmp_path: Path) -> None:
    """The same items by both engines; of --memories, what travels are the lines."""
    answer = {"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}}
    with chat_server(json.dumps(answer)) as server:
        words = [
            "--program",
            "full_history",
            "--data",
            "mini",
            "--limit",
            "4",
            "--lm",
            f"llama-server:{server.url}#made",
        ]
        words += ["--program", "prefine:loop=generate", "--max-failures", "1", "--num-threads", "2"]
        for name, more in {"one": [], "ray": ["--engine", "ray"]}.items():
            done = CliRunner().invoke(app, [*words, *more, "--out", str(tmp_path / name)])
            assert done.exit_code == 0, done.output
        calls = len(server.paths)
        reused = ["--engine", "ray", "--out", str(tmp_path / "reused"), "--memories", str(tmp_path / "one")]
        done = CliRunner().invoke(app, [*words, *reused])
        assert done.exit_code == 0, done.output
        assert len(server.paths) - calls == 8, "one a query"
    for name in ("memories.jsonl", "items.jsonl"):
        assert without_time(tmp_path / "ray" / name) == without_time(tmp_path / "one" / name)
    assert without_time(tmp_path / "reused/items.jsonl") == without_time(tmp_path / "one/items.jsonl")


def test_an_address_without_the_engine_is_one_line(tmp_path: Path) -> None:
    words = ["--program", "full_history", "--lm", "local", "--out", str(tmp_path / "run"), "--ray-address", "auto"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and done.stderr.startswith("error: --ray-address is for --engine ray")


def test_a_worker_with_other_data_is_one_line() -> None:
    here = ray_world.task()
    config = config_of(here.systems, here.benchmark, here.lm)
    asked = {"programs": ["full_history"], "data": "mini", "lm": "llama-server:http://127.0.0.1:1#made"}
    with pytest.raises(InputError, match="is not like this one: data: "):
        task_on_worker(asked, config, str(ROOT))
