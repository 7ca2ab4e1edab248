"""Usage per unit of work, in threads, from every form an answer is stored in."""

from __future__ import annotations

import contextvars
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from eval.call_cache import CallCache, installed
from eval.tokens import counting
from eval.usage import Usage, current_usage, measured, reported


def test_reported_reads_dspys_record_and_a_providers_object() -> None:
    details = {"cached_tokens": 4}
    record = {"usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": details}, "cost": 0.5}
    assert reported(record) == ({"input_tokens": 9, "output_tokens": 2, "cache_read_tokens": 4}, 0.5)
    usage = SimpleNamespace(model_dump=lambda: {"input_tokens": 7, "output_tokens": 1, "input_tokens_details": None})
    answer = SimpleNamespace(usage=usage, _hidden_params={"response_cost": 0.25})
    assert reported(answer) == ({"input_tokens": 7, "output_tokens": 1}, 0.25)
    assert reported({"usage": {}, "cost": None}) == ({}, None)
    assert reported(object()) == ({}, None)


def test_unknown_is_not_zero() -> None:
    usage = Usage()
    usage.add_answer({"usage": {}, "cost": None}, seconds=1.0, cached=False)
    assert usage.as_json()["unreported_calls"] == 1
    assert usage.cost is None
    usage.add_answer({"usage": {"prompt_tokens": 3, "completion_tokens": 1}, "cost": 0.0}, seconds=0.5, cached=True)
    assert usage.as_json() == {
        "lm_calls": 2,
        "cached_calls": 1,
        "failed_calls": 0,
        "unreported_calls": 1,
        "input_tokens": 3,
        "output_tokens": 1,
        "cache_read_tokens": 0,
        "lm_seconds": 1.5,
        "cost": 0.0,
    }


def test_threads_do_not_mix() -> None:
    def work(n: int) -> int:
        with measured() as usage:
            for _ in range(n):
                found = current_usage()
                assert found is usage
                found.add_answer({"usage": {"prompt_tokens": 1}}, seconds=0, cached=False)
        return usage.input_tokens

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(20))) == list(range(20))
    assert current_usage() is None


def test_a_context_that_is_copied_counts_for_its_owner() -> None:
    with measured() as usage:
        context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(context.run, lambda: current_usage().add_failure()).result()  # type: ignore[union-attr]
    assert usage.failed_calls == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_answers_of_the_litellm_path_survive_the_restricted_store(tmp_path) -> None:
    """A provider SDK's response object is stored and read back with its tokens; otherwise it would be paid again."""
    litellm = pytest.importorskip("litellm")
    import dspy

    class Engine:
        def complete_legacy(self, lm, request, **context):
            from dspy.clients.call_result import CallResult

            calls.append(1)
            raw = litellm.ModelResponse(
                model="m",
                choices=[{"message": {"content": "hello", "role": "assistant"}, "finish_reason": "stop"}],
                usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
            )
            raw._hidden_params = {"response_cost": 0.125}
            return CallResult.legacy(lm, raw)

        def complete(self, request):
            raise AssertionError

    calls: list[int] = []
    for at in range(2):
        cache = CallCache(tmp_path / "answers")
        lm = dspy.LM("legacy/m", engine=Engine(), temperature=0.0)
        with installed(cache), dspy.context(callbacks=[cache]), measured() as usage:
            assert lm("hi") == ["hello"]
        assert (usage.input_tokens, usage.output_tokens, usage.cached_calls, usage.lm_calls) == (5, 2, at, 1)
        assert usage.cost == 0.125
    assert calls == [1]


def test_tokens_say_whose_count_they_are() -> None:
    own = SimpleNamespace(engine=SimpleNamespace(count_tokens=lambda text: len(text.split())), model="local/x")
    assert counting(own).count("three little words") == 3  # type: ignore[arg-type]
    assert counting(own).method == "local/x"  # type: ignore[arg-type]
    other = counting(SimpleNamespace(engine="auto", model="m"))  # type: ignore[arg-type]
    assert other.method in ("cl100k_base", "characters/4")
    assert other.count("") == 0 and other.count("prefers cheap things") in (4, 5, 3)
