"""The loop: what is written, what is asked, what is asked again, and what stops it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15
from scripted_run import ChainSystem, DirectSystem, ScriptedEngine, scripted_lm, scripted_run, tiny_benchmark

from eval.failures import LMErrorsInARowError
from eval.journal import read_lines
from eval.markdown import table_cost
from eval.run_folder import RunFolder
from prefine_dspy.errors import BudgetExhausted, InputError

UPDATES, ITEMS = 12, 24  # of the tiny benchmark: 4 histories of 3 sessions, 12 queries for 2 programs
CALLS = UPDATES * 3 + ITEMS


def test_writes_every_update_and_item_once(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    summary = scripted_run(tmp_path / "run", engine)
    items, memories = read_lines(tmp_path / "run/items.jsonl"), read_lines(tmp_path / "run/memories.jsonl")
    assert engine.calls == CALLS == summary["lm_calls_started"]
    assert len({(one["program"], one["id"]) for one in items}) == len(items) == ITEMS
    assert [one["session_id"] for one in memories if one["history_id"] == "h1"] == ["h1s0", "h1s1", "h1s2"]
    assert {one["usage"]["lm_calls"] for one in memories} == {3}
    assert all(one["usage"]["input_tokens"] > 0 and one["usage"]["cached_calls"] == 0 for one in items + memories)
    last = {one["history_id"]: one["memory"]["text"] for one in memories}
    assert all(one["memory"] == last[one["history_id"]] for one in items if one["program"] == "chain")
    assert all(one["memory"] == "" for one in items if one["program"] == "direct")
    assert {one["status"] for one in items} == {"ok", "wrong"}
    assert all((one["status"] == "ok") == (one["scores"]["strict"]["overall"]["f1"] == 1) for one in items)
    assert json.loads((tmp_path / "run/summary.json").read_text(encoding="utf-8")) == summary


def test_resuming_a_finished_run_asks_nothing(tmp_path: Path) -> None:
    scripted_run(tmp_path / "run", ScriptedEngine())
    before = (tmp_path / "run/items.jsonl").read_bytes()
    again = ScriptedEngine()
    scripted_run(tmp_path / "run", again)
    assert again.calls == 0
    assert (tmp_path / "run/items.jsonl").read_bytes() == before


def test_an_update_that_was_cut_off_uses_its_finished_calls(tmp_path: Path) -> None:
    """Two of three calls of an update were answered when the process died: only the third is asked again."""

    class Killed(BaseException):
        pass

    class DiesInUpdate(ScriptedEngine):
        def complete(self, request: lm15.Request) -> lm15.Response:
            if self.calls == 2:
                raise Killed
            return super().complete(request)

    with pytest.raises(Killed):
        scripted_run(tmp_path / "run", DiesInUpdate())
    assert read_lines(tmp_path / "run/memories.jsonl") == []
    rest = ScriptedEngine()
    scripted_run(tmp_path / "run", rest)
    assert rest.calls == CALLS - 2
    first = read_lines(tmp_path / "run/memories.jsonl")[0]
    assert (first["usage"]["lm_calls"], first["usage"]["cached_calls"]) == (3, 2)


def test_the_same_request_from_two_threads_is_asked_once(tmp_path: Path) -> None:
    """Two histories that start with the same session ask the same; the second waits for the first's answer."""
    benchmark = tiny_benchmark()
    same = {
        key: history.model_copy(update={"sessions": benchmark.histories["h0"].sessions})
        for key, history in benchmark.histories.items()
    }
    engine = ScriptedEngine(seconds=0.02)
    systems = {"chain": ChainSystem()}
    scripted_run(tmp_path / "run", engine, systems=systems, benchmark=benchmark._replace(histories=same), num_threads=4)
    assert engine.calls == 3 * 3 + 12


def test_a_failed_call_frees_those_who_wait_for_its_answer(tmp_path: Path) -> None:
    failed = threading.Event()

    def fail_once(prompt: str) -> Exception | None:
        if failed.is_set():
            return None
        failed.set()
        return lm15.ServerError("busy")

    benchmark = tiny_benchmark()
    same = {key: benchmark.histories["h0"].model_copy(update={"id": key}) for key in benchmark.histories}
    engine = ScriptedEngine(seconds=0.02, fail=fail_once)
    out = tmp_path / "run"
    scripted_run(out, engine, systems={"c": ChainSystem()}, benchmark=benchmark._replace(histories=same), num_threads=4)
    assert [one["status"] for one in read_lines(out / "memories.jsonl")].count("lm_error") == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_max_calls_is_never_exceeded_and_holds_over_resumptions(tmp_path: Path, threads: int) -> None:
    total = 0
    for limit in (0, 7, 8, 40, CALLS - 1):
        engine = ScriptedEngine(seconds=0.001)
        with pytest.raises(BudgetExhausted, match=f"--max-calls {limit} reached"):
            scripted_run(tmp_path / "run", engine, max_calls=limit, num_threads=threads)
        total += engine.calls
        assert total <= limit
        assert not (tmp_path / "run/summary.json").exists()
    engine = ScriptedEngine()
    scripted_run(tmp_path / "run", engine, max_calls=CALLS, num_threads=threads)
    assert total + engine.calls == CALLS
    assert len(read_lines(tmp_path / "run/items.jsonl")) == ITEMS


def test_a_program_cannot_hide_that_the_budget_is_spent(tmp_path: Path) -> None:
    class Swallows(DirectSystem):
        def answer(self, *inputs: Any) -> dspy.Prediction:
            try:
                return super().answer(*inputs)
            except Exception:
                return dspy.Prediction(calls=[], raw="", parse_failed=True)

    with pytest.raises(BudgetExhausted):
        scripted_run(tmp_path / "run", ScriptedEngine(), systems={"s": Swallows()}, max_calls=5)
    items = read_lines(tmp_path / "run/items.jsonl")
    assert len(items) == 5 and not any(one["status"] == "parse_error" for one in items)


def test_lm_errors_in_a_row_stop_the_run_and_are_asked_again(tmp_path: Path) -> None:
    engine = ScriptedEngine(fail=lambda prompt: lm15.RateLimitError("slow down") if "query 2" in prompt else None)
    systems = {"direct": DirectSystem()}
    out = tmp_path / "run"
    summary = scripted_run(out, engine, systems=systems)
    assert summary["programs"]["direct"]["statuses"]["lm_error"] == 4
    assert summary["failed_share"] == pytest.approx(4 / 12)
    failed = [one for one in read_lines(out / "items.jsonl") if one["status"] == "lm_error"]
    assert {one["error"]["kind"] for one in failed} == {"LMRateLimitError"}
    assert all(one["scores"]["strict"]["overall"]["fn"] == 1 for one in failed)  # never left out of the counts

    always = ScriptedEngine(fail=lambda prompt: lm15.RateLimitError("slow down"))
    with pytest.raises(LMErrorsInARowError, match="3 LM errors in a row"):
        scripted_run(out, always, systems=systems, errors_in_a_row=3)
    assert always.calls == 3

    works = ScriptedEngine()
    scripted_run(out, works, systems=systems)
    items = read_lines(out / "items.jsonl")
    assert works.calls == 4
    assert len(items) == len({one["id"] for one in items}) == 12
    assert not any(one["status"] == "lm_error" for one in items)


def test_a_memory_that_lacks_a_session_is_rebuilt_from_there(tmp_path: Path) -> None:
    broken = ScriptedEngine(fail=lambda prompt: lm15.ServerError("down") if "session 1 of user 2" in prompt else None)
    scripted_run(tmp_path / "run", broken)
    works = ScriptedEngine()
    scripted_run(tmp_path / "run", works)
    assert works.calls == 2 * 3 + 3  # sessions 1 and 2 of that history, and its queries
    whole = tmp_path / "whole"
    scripted_run(whole, ScriptedEngine())

    def texts(path: Path) -> dict[Any, Any]:
        lines = read_lines(path / "memories.jsonl")
        return {(one["history_id"], one["session"]): one["memory"]["text"] for one in lines}

    assert texts(tmp_path / "run") == texts(whole)
    assert len(read_lines(tmp_path / "run/items.jsonl")) == ITEMS


def test_items_of_a_memory_that_was_begun_again_are_void_after_another_stop(tmp_path: Path) -> None:
    """The resumption that dropped the broken updates is stopped, too, before it comes to the items."""
    out = tmp_path / "run"
    broken = ScriptedEngine(fail=lambda prompt: lm15.ServerError("down") if "session 1 of user 2" in prompt else None)
    scripted_run(out, broken)
    with pytest.raises(BudgetExhausted):
        scripted_run(out, ScriptedEngine(), max_calls=broken.calls + 1)
    scripted_run(out, ScriptedEngine())
    last = {one["history_id"]: one["memory"]["text"] for one in read_lines(out / "memories.jsonl")}
    items = [one for one in read_lines(out / "items.jsonl") if one["program"] == "chain"]
    assert len(items) == len({one["id"] for one in items}) == 12
    assert {one["history_id"] for one in items if one["memory"] != last[one["history_id"]]} == set()


def test_a_prompt_that_does_not_fit_is_an_outcome(tmp_path: Path) -> None:
    long = ScriptedEngine(fail=lambda prompt: lm15.ContextLengthError("too long") if "user" in prompt else None)
    systems = {"direct": DirectSystem()}
    summary = scripted_run(tmp_path / "run", long, systems=systems)
    assert summary["programs"]["direct"]["statuses"]["lm_error"] == 12
    works = ScriptedEngine()
    scripted_run(tmp_path / "run", works, systems=systems)
    assert works.calls == 0


def test_a_dead_endpoint_stops_at_the_first_call(tmp_path: Path) -> None:
    dead = ScriptedEngine(fail=lambda prompt: lm15.AuthError("no such key"))
    with pytest.raises(InputError, match="the first call to scripted/one failed: .*no such key"):
        scripted_run(tmp_path / "run", dead)
    assert dead.calls == 1
    assert read_lines(tmp_path / "run/items.jsonl") == []


def test_unreadable_answers_are_counted_not_raised(tmp_path: Path) -> None:
    class Prose(ScriptedEngine):
        def complete(self, request: lm15.Request) -> lm15.Response:
            message = lm15.Message.assistant([lm15.TextPart("I would rather not.")])
            usage = lm15.Usage()
            return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)

    summary = scripted_run(tmp_path / "run", Prose())
    assert summary["programs"]["chain"]["statuses"]["parse_error"] == 12
    assert summary["failed_share"] == 1
    assert summary["programs"]["chain"]["cost"]["update_parse_failures"] == UPDATES
    assert summary["programs"]["chain"]["cost"]["unreported_calls"] > 0


def test_an_lm_that_bypasses_the_cache_is_refused(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    lm = scripted_lm(engine).copy(cache=False)
    with pytest.raises(InputError, match="cache switched off"):
        scripted_run(tmp_path / "run", engine, lm=lm)
    assert engine.calls <= 3  # the update that found out


def test_memories_and_answers_may_use_two_lms(tmp_path: Path) -> None:
    from scripted_run import config_of

    from eval.runner import run
    from eval.tasks.mpt import MPTTask

    memory_engine, engine = ScriptedEngine(), ScriptedEngine()
    lm, memory_lm = scripted_lm(engine), scripted_lm(memory_engine, "scripted/two")
    systems, benchmark = {"chain": ChainSystem()}, tiny_benchmark()
    with RunFolder(tmp_path / "run", config_of(systems, benchmark, lm), resume=False) as folder:
        run(folder, MPTTask(systems, benchmark, benchmark.instances, lm, memory_lm))
    assert (memory_engine.calls, engine.calls) == (UPDATES * 3, 12)


def test_dspys_own_cache_is_back_afterwards(tmp_path: Path) -> None:
    before = dspy.cache
    scripted_run(tmp_path / "run", ScriptedEngine())
    assert dspy.cache is before


def test_failed_memory_updates_are_a_share_of_their_own_and_shown(tmp_path: Path) -> None:
    """Items of a memory that lacks sessions are answered and scored: only this says that something is wrong."""
    broken = ScriptedEngine(fail=lambda prompt: lm15.ServerError("down") if "session 1" in prompt else None)
    summary = scripted_run(tmp_path / "run", broken, systems={"chain": ChainSystem()})
    assert summary["failed_share"] == 0
    assert summary["failed_update_share"] == pytest.approx(1 / 3)
    assert "updates lost to LM errors" in "".join(table_cost(summary))
    whole = scripted_run(tmp_path / "run", ScriptedEngine(), systems={"chain": ChainSystem()})
    assert whole["failed_update_share"] == 0
    assert "updates lost" not in "".join(table_cost(whole))
