import asyncio
import copy
import json
import os
import pickle
import struct
import threading
import time

import dspy
import pytest
from dspy import lm15
from dspy.utils.exceptions import ContextWindowExceededError, LMConfigurationError
from made_requests import function_tool, request

from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.lm import engine as engine_module
from prefine_dspy.lm import request_body
from prefine_dspy.lm.engine import AsyncLlamaCppEngine, LlamaCppEngine

SCHEMA = {"type": "json_schema", "schema": {"type": "object"}}


def answer(content, finish_reason="stop"):
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "/home/someone/secret/m.gguf",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 2,
            "total_tokens": 11,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    }


class FakeServer:
    """Stands for the loaded server core."""

    listening_address = "http://127.0.0.1:1"

    def __init__(self, gives):
        self.gives = gives
        self.bodies = []

    def handle_chat_completions(self, body):
        self.bodies.append(body)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


def engine_with(gives, monkeypatch):
    """An engine on a fake server that gives this answer."""
    made = LlamaCppEngine("/somewhere/m.gguf", context=128, slots=1)
    monkeypatch.setattr(made, "_load", lambda: FakeServer(copy.deepcopy(gives)))
    monkeypatch.setattr(request_body, "compact_grammar", lambda schema: "root ::= x")
    return made


@pytest.mark.parametrize("encode", [lambda body: body, json.dumps, lambda body: json.dumps(body).encode()])
def test_an_answer_with_its_usage(monkeypatch, encode):
    made = engine_with(encode(answer("hello")), monkeypatch)
    response = made.complete(request())
    assert response.message.text == "hello" and response.finish_reason == "stop"
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (9, 2, 8)


def test_the_files_path_stays_here(monkeypatch):
    response = engine_with(answer("hello"), monkeypatch).complete(request())
    assert "/home/someone" not in repr(response)


@pytest.mark.parametrize(
    ("gives", "error", "says"),
    [
        (ValueError("bad body"), lm15.InvalidRequestError, "refused the request: bad body"),
        (RuntimeError("odd output"), lm15.InvalidRequestError, "refused the request: odd output"),
        ({"error": {"code": 400, "message": "no", "type": "invalid"}}, lm15.InvalidRequestError, "refused .*: no"),
        ({"error": "no"}, lm15.InvalidRequestError, "refused the request: no"),
        (
            {"error": {"code": 400, "message": "9000 tokens", "type": "exceed_context_size_error"}},
            lm15.ContextLengthError,
            "9000 tokens",
        ),
    ],
)
def test_refusals_are_dspys_errors(monkeypatch, gives, error, says):
    with pytest.raises(error, match=says):
        engine_with(gives, monkeypatch).complete(request())


def test_a_damaged_model_file_is_one_line_that_says_what_to_do(tmp_path):
    pytest.importorskip("xllamacpp")
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 5, 3) + b"\x07" * 4_000)
    made = LlamaCppEngine(damaged, context=128, slots=1, threads=1)
    lm = dspy.LM("llamacpp/damaged", engine=made, cache=False, num_retries=3)
    with pytest.raises(LMConfigurationError) as told:
        lm("hi")
    line = told.value.message
    assert str(damaged) in line and "python -m prefine_dspy.lm pull" in line and "\n" not in line
    with pytest.raises(PrefineError, match="cannot load"):
        made.count_tokens("hi")


def test_an_overflow_is_dspys_own_error(monkeypatch):
    gives = {"error": {"code": 400, "message": "9000 tokens", "type": "exceed_context_size_error"}}
    lm = dspy.LM("llamacpp/m", engine=engine_with(gives, monkeypatch), cache=False, num_retries=0)
    with pytest.raises(ContextWindowExceededError):
        lm("hi")


def test_free_text_where_a_schema_was_asked_for_is_an_error(monkeypatch):
    """llama.cpp answers 200 and free text when it cannot read a grammar."""
    with pytest.raises(lm15.UnsupportedFeatureError, match="did not apply the schema"):
        engine_with(answer("Sure, here you are"), monkeypatch).complete(request(response_format=SCHEMA))
    cut_off = engine_with(answer('{"a', "length"), monkeypatch).complete(request(response_format=SCHEMA))
    assert cut_off.finish_reason == "length"
    assert engine_with(answer("{}"), monkeypatch).complete(request(response_format=SCHEMA)).message.text == "{}"


def test_tools_are_answered_as_tool_calls(monkeypatch):
    gives = answer('{"tool_calls":[{"name":"get_weather","arguments":{"city":"Paris"}}]}')
    response = engine_with(gives, monkeypatch).complete(request(tools=[function_tool()]))
    (part,) = response.message.parts
    assert (part.name, part.input, response.finish_reason) == ("get_weather", {"city": "Paris"}, "tool_call")


def test_a_stream_is_the_whole_answer(monkeypatch):
    made = engine_with(answer("hello"), monkeypatch)
    events = list(made.stream(request()))
    assert "hello" in repr(events)

    async def gather():
        return [event async for event in AsyncLlamaCppEngine(made).stream(request())]

    assert asyncio.run(gather()) == events


def test_the_async_side_answers_too_and_leaves_the_model_loaded(monkeypatch):
    made = engine_with(answer("hello"), monkeypatch)
    other = AsyncLlamaCppEngine(made)

    async def once():
        response = await other.complete(request())
        await other.aclose()
        return response

    assert asyncio.run(once()).message.text == "hello"
    assert made._server is not None


def test_threads_share_one_load(monkeypatch):
    loads = []
    made = LlamaCppEngine("/somewhere/m.gguf")

    def load():
        loads.append(1)
        time.sleep(0.02)
        return FakeServer(answer("x"))

    monkeypatch.setattr(made, "_load", load)
    threads = [threading.Thread(target=made.complete, args=(request(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    made.close()
    made.complete(request())
    assert loads == [1, 1]


def test_threads_are_the_usable_cores_unless_given(monkeypatch):
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert LlamaCppEngine("m.gguf").threads == usable
    assert LlamaCppEngine("m.gguf", threads=3).threads == 3
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert LlamaCppEngine("m.gguf", threads=3).threads == 3
    assert LlamaCppEngine("m.gguf").threads == 7


@pytest.mark.parametrize("kind", [LlamaCppEngine, AsyncLlamaCppEngine])
def test_the_state_has_no_path_and_finds_the_file_elsewhere(kind, models):
    (models / "m.gguf").write_bytes(b"GGUF")
    sync = LlamaCppEngine("/home/someone/m.gguf", context=128, slots=3)
    made = sync if kind is LlamaCppEngine else AsyncLlamaCppEngine(sync)
    state = made.dump_state()
    assert json.loads(json.dumps(state)) == state == {"file": "m.gguf", "context": 128, "slots": 3}
    loaded = kind.load_state(state)
    assert loaded.dump_state() == state
    assert getattr(loaded, "engine", loaded).path == models / "m.gguf"


def test_a_state_whose_file_is_not_here_says_how_to_fetch_it(models):
    with pytest.raises(InputError, match="m.gguf is not on this machine"):
        LlamaCppEngine.load_state({"file": "m.gguf", "context": 128, "slots": 1})


@pytest.mark.parametrize("wrap", [lambda made: made, AsyncLlamaCppEngine])
def test_copies_share_the_model_and_pickles_hold_only_the_state(wrap, models):
    (models / "m.gguf").write_bytes(b"GGUF")
    made = wrap(LlamaCppEngine("/home/someone/m.gguf", context=128))
    assert copy.deepcopy(made) is made
    pickled = pickle.dumps(made)
    assert b"someone" not in pickled
    assert pickle.loads(pickled).dump_state() == made.dump_state()


def test_copies_of_an_lm_share_the_model(monkeypatch):
    made = engine_with(answer("hello"), monkeypatch)
    lm = dspy.LM("llamacpp/m", engine=made, cache=False)
    assert lm.copy(temperature=0.5).engine is made
    assert copy.deepcopy(lm).engine is made


def test_a_missing_extra_names_its_install_command(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(engine_module.MissingExtra, match=r"pip install 'prefine-dspy\[local\]'"):
        LlamaCppEngine("/somewhere/m.gguf").server()
