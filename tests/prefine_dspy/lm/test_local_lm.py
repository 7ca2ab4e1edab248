"""The engine on real weights: the small model for the contract, the default one for a valid call."""

import asyncio
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import dspy
import jsonschema
import pytest
from dspy.utils.exceptions import ContextWindowExceededError
from small_world import TOOLS

from eval.data.catalogue import base_catalogue
from eval.tokens import counting
from prefine_dspy.adapter import answer_schema
from prefine_dspy.caller import ToolCaller, with_tools
from prefine_dspy.lm import resolve
from prefine_dspy.signatures import CallTool
from prefine_dspy.types import Query

QUERY = Query.of("Book me a flight to Paris")
CALL_SCHEMA = answer_schema(with_tools(CallTool, TOOLS))


def usage_of(lm):
    return lm.history[-1]["response"].usage


@pytest.mark.tiny_lm
def test_a_schema_is_kept_and_written_without_white_space(tiny):
    with dspy.context(lm=tiny):
        prediction = ToolCaller()(query=QUERY, tools=TOOLS, memory="")
    text = tiny.history[-1]["response"].message.text
    answer = json.loads(text)
    jsonschema.validate(answer, CALL_SCHEMA)
    assert text == json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    assert not prediction.parse_failed
    for call in prediction.calls:
        assert TOOLS.problems(call) == []


@pytest.mark.tiny_lm
def test_the_second_call_reads_the_prefix_from_the_cache(tiny):
    with dspy.context(lm=tiny):
        for text in ("Book me a flight to Paris", "Find me a hotel"):
            ToolCaller()(query=Query.of(text), tools=TOOLS, memory="")
    usage = usage_of(tiny)
    assert usage.cache_read_tokens > 0.7 * usage.input_tokens


@pytest.mark.tiny_lm
def test_log_probabilities(tiny):
    (answer,) = tiny("Say yes.", logprobs=True, top_logprobs=2, max_tokens=4)
    tokens = tiny.history[-1]["response"].logprobs
    assert 1 <= len(tokens) <= 4
    assert all(token.logprob <= 0 and len(token.top) == 2 for token in tokens)
    assert answer["logprobs"]


@pytest.mark.tiny_lm
def test_the_same_prompt_gives_the_same_answer(tiny):
    assert tiny("Name a colour.", max_tokens=8) == tiny("Name a colour.", max_tokens=8)


@pytest.mark.tiny_lm
def test_the_limit_on_tokens_is_kept_and_reported(tiny):
    tiny("Tell me a long story.", max_tokens=5)
    assert usage_of(tiny).output_tokens == 5
    assert tiny.history[-1]["response"].finish_reason == "length"


@pytest.mark.tiny_lm
def test_a_prompt_beyond_the_context_is_dspys_own_error(tiny):
    with pytest.raises(ContextWindowExceededError):
        tiny("word " * 2000)


@pytest.mark.tiny_lm
def test_tools_are_called(tiny):
    parameters = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "get_weather", "description": "", "parameters": parameters}}
    tiny("How is the weather in Rome?", tools=[tool], tool_choice="required")
    response = tiny.history[-1]["response"]
    if response.finish_reason == "tool_call":  # else cut off: it may ask for several cities
        assert all(
            part.name == "get_weather" and part.input["city"] in ("Paris", "Rome") for part in response.message.parts
        )
    else:
        assert response.finish_reason == "length"


@pytest.mark.tiny_lm
def test_the_async_side(tiny):
    async def two():
        with dspy.context(lm=tiny):
            caller = ToolCaller()
            asked = (caller.acall(query=Query.of(text), tools=TOOLS, memory="") for text in ("A flight", "A hotel"))
            return await asyncio.gather(*asked)

    assert all(not prediction.parse_failed for prediction in asyncio.run(two()))


@pytest.mark.tiny_lm
def test_four_threads_share_the_model_and_get_their_own_answers(tiny):
    def only(name):
        schema = {
            "type": "object",
            "properties": {"is": {"const": name}},
            "required": ["is"],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "only", "schema": schema}}

    names = ["one", "two", "three", "four"]

    def ask(name):
        return json.loads(tiny(f"Say {name}.", response_format=only(name))[0])["is"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, names)) == names


@pytest.mark.tiny_lm
def test_other_processes_cannot_use_the_model_or_read_prompts(tiny):
    tiny("A secret of this user.", max_tokens=1)
    address = tiny.engine.server().listening_address
    assert address.startswith("http://127.0.0.1:")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    asks = {"/slots": None, "/props": None, "/metrics": None, "/v1/models": None}
    asks |= {path: b'{"prompt":"A","n_predict":1}' for path in ("/completion", "/v1/completions", "/tokenize")}
    asks |= {"/v1/chat/completions": b'{"messages":[{"role":"user","content":"A"}]}', "/slots/0?action=save": b"{}"}
    for key in (None, "guess"):
        for path, data in asks.items():
            headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
            with pytest.raises(urllib.error.HTTPError) as refused:
                opener.open(urllib.request.Request(address + path, data=data, headers=headers), timeout=10)
            assert refused.value.code == 401
            assert b"secret" not in refused.value.read()


@pytest.mark.tiny_lm
def test_tokens_are_counted_by_the_models_own_tokenizer(tiny):
    count = tiny.engine.count_tokens
    assert count("") == 0
    assert 4 <= count("The user prefers low cost.") <= 8
    assert count("word " * 5000) > tiny.engine.context  # longer than the context is no matter
    tiny("Hello there", max_tokens=1)
    short = usage_of(tiny).input_tokens
    tiny("Hello there my dear friend", max_tokens=1)
    assert usage_of(tiny).input_tokens - short == count(" my dear friend")
    assert counting(tiny).method == tiny.model


@pytest.mark.tiny_lm
def test_a_closed_model_is_loaded_again():
    lm = resolve("local:smollm2-135m", context=128, slots=1, threads=1, cache=False, max_tokens=1)
    first = lm.engine.server()
    lm.engine.close()
    assert lm("Hi") and lm.engine.server() is not first
    lm.engine.close()


@pytest.mark.local_lm
def test_the_default_model_makes_a_valid_call_from_the_whole_catalogue():
    tools = base_catalogue()
    lm = resolve("local", context=4096, slots=1, cache=False)
    with dspy.context(lm=lm):
        query = Query.of("Find me a round trip flight from New York to Paris on March 9th")
        prediction = ToolCaller()(query=query, tools=tools, memory="The user prefers low cost options.")
    (call,) = prediction.calls
    assert call.name == "GetFlights"
    assert tools.problems(call) == []
    assert call.arguments.get("destination") == "Paris"
    assert not prediction.parse_failed
    lm.engine.close()
