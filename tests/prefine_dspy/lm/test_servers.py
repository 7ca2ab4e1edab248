import json

import dspy
import pytest
from chat_server import chat_server
from small_world import TOOLS

from prefine_dspy.caller import ToolCaller
from prefine_dspy.errors import InputError
from prefine_dspy.lm import resolve
from prefine_dspy.lm.servers import DEFAULT_URLS, is_server, server_lm
from prefine_dspy.types import Query, ToolCall

ANSWER = {"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}}


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("vllm:#Qwen/Qwen3-8B", True),
        ("ollama:#qwen3:8b", True),
        ("llama-server:http://127.0.0.1:8080#m", True),
        ("ollama/qwen3", False),
        ("vllm", False),
        ("openai/gpt-5-mini", False),
        ("local:x", False),
    ],
)
def test_names_of_servers(name, is_one):
    assert is_server(name) is is_one


@pytest.mark.parametrize("kind", sorted(DEFAULT_URLS))
def test_servers_are_declared_to_keep_schemas_and_tools(kind):
    lm = resolve(f"{kind}:#some/model")
    assert lm.supports_response_schema and lm.supports_function_calling
    assert "response_format" in lm.supported_params
    assert lm.model.endswith("/some/model")


def test_two_addresses_are_two_lms_to_the_cache():
    names = {server_lm(f"vllm:{url}#m").model for url in ("http://a:1", "http://b:1", "http://b:1/", "http://b:1/v1")}
    assert len(names) == 2


@pytest.mark.parametrize("kind", sorted(DEFAULT_URLS))
def test_the_catalogues_schema_reaches_the_server(kind):
    with chat_server(json.dumps(ANSWER)) as server:
        lm = resolve(f"{kind}:{server.url}#my-model", cache=False)
        with dspy.context(lm=lm):
            prediction = ToolCaller()(query=Query.of("Book me a flight"), tools=TOOLS, memory="")
    assert prediction.calls == [ToolCall.of("GetFlights", flight_class="Economy")]
    assert server.paths == ["/v1/chat/completions"]
    (body,) = server.bodies
    assert body["model"] == "my-model"
    assert body["temperature"] == 0.0
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    form = body["response_format"]
    assert form["type"] == "json_schema"
    functions = form["json_schema"]["schema"]["properties"]["call"]["anyOf"]
    assert [one["properties"]["function"]["const"] for one in functions] == ["GetFlights", "GetHotels"]


def test_native_tools_reach_the_server():
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "get_weather", "description": "", "parameters": parameters}}
    with chat_server("Sunny.") as server:
        resolve(f"vllm:{server.url}#m", cache=False)("How is it?", tools=[tool])
    assert server.bodies[0]["tools"][0]["function"]["name"] == "get_weather"


def test_a_model_must_be_named():
    with pytest.raises(InputError, match="ollama:http://127.0.0.1:11434#<model>"):
        server_lm("ollama:")


@pytest.mark.parametrize("url", ["garbage", "ftp://host", "http://[::1", "http://", "http://host:99999"])
def test_what_is_no_address(url):
    with pytest.raises(InputError, match="is no address: write vllm:http://127.0.0.1:8000#m"):
        server_lm(f"vllm:{url}#m")
