"""The journal of LM calls where several askers want the same answer at once."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15
from dspy.utils.exceptions import LMConfigurationError

from eval.call_cache import CallCache, installed
from prefine_dspy.errors import InputError
from tests.scripted_lm import AsyncScript, Script


class SlowScript(AsyncScript):
    """Gives other tasks of the loop their turn before it answers."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        await asyncio.sleep(0.2)
        return self.script.complete(request)


def numbered(seconds: float = 0.0) -> Script:
    """Answers "1", "2", "3" ..., so that it is seen who paid for what."""
    count = iter(range(1, 100))

    def answer(request: lm15.Request) -> str:
        threading.Event().wait(seconds)
        return str(next(count))

    return Script(answer)


def lm_of(script: Script) -> dspy.LM:
    return dspy.LM(
        "scripted/numbered", engine=script, async_engine=SlowScript(script), temperature=0.0, cache=True, num_retries=0
    )


async def many(lm: dspy.LM) -> list[Any]:
    """More tasks than the event loop has worker threads (32 at the most)."""
    return await asyncio.gather(*(lm.acall("the same") for _ in range(40)))


def within(seconds: float, work: Any) -> Any:
    """The result of work in a thread of its own: an event loop without free workers cannot even be closed."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"no answer within {seconds} s: tasks wait for one that they hold up"
    return found[0]


def test_tasks_of_one_loop_that_ask_the_same_do_not_wait_for_each_other(tmp_path: Path) -> None:
    script = numbered()
    cache = CallCache(tmp_path / "answers")

    def work() -> list[Any]:
        with dspy.context(callbacks=[cache]):
            return asyncio.run(many(lm_of(script)))

    with installed(cache):
        answers = within(100, work)
        assert len(answers) == 40
        paid = len(script.requests)
        assert cache.started_calls == paid == len({answer for (answer,) in answers})
        with dspy.context(callbacks=[cache]):
            kept, again = (asyncio.run(lm_of(script).acall("the same")) for _ in range(2))
            assert kept == again
    assert kept in answers
    assert len(script.requests) == paid
    assert not cache._in_flight


def test_threads_that_ask_the_same_pay_once(tmp_path: Path) -> None:
    script = numbered(seconds=0.2)
    cache = CallCache(tmp_path / "answers")
    found: list[Any] = []

    def work() -> None:
        with dspy.context(callbacks=[cache]):
            found.append(lm_of(script)("the same"))

    with installed(cache):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert found == [["1"]] * 4
    assert len(script.requests) == 1


def test_a_model_file_that_cannot_be_loaded_stops_the_run_once_and_in_its_own_words(tmp_path: Path) -> None:
    said = "llama.cpp cannot load m.gguf: fetch it again: python -m prefine_dspy.lm pull"
    script = Script(lambda request: lm15.ConfigurationError(said))
    cache = CallCache(tmp_path / "answers")
    lm = dspy.LM("llamacpp/m", engine=script, temperature=0.0, cache=True, num_retries=3)
    with installed(cache), dspy.context(callbacks=[cache]):
        with pytest.raises(LMConfigurationError):
            lm("one")
        assert str(cache.stop) == f"the first call to llamacpp/m failed: {said}"
        with pytest.raises(InputError):
            lm("another")
        assert cache.started_calls == 0
    assert len(script.requests) == 1
