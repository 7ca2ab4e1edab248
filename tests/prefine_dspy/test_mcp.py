"""The MCP server, asked by the official client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from prefine_dspy.errors import InputError
from prefine_dspy.mcp_server import AgentAtFirstUse, MemoryTools, server_of
from prefine_dspy.mcp_server.first_use import python_object
from prefine_dspy.store import PreferenceStore

ROOT = Path(__file__).resolve().parents[2]
TOOL = {
    "name": "GetFlights",
    "description": "Find flights",
    "inputSchema": {
        "type": "object",
        "properties": {
            "flight_class": {"type": "string", "enum": ["Economy", "Business"]},
            "destination": {"type": "string"},
            "departure_date": {"type": "string", "format": "date"},
        },
        "required": ["destination"],
    },
}
CHAT = [
    {"role": "user", "content": "The cheapest flight to Paris, canary-said"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {
                    "name": "GetFlights",
                    "arguments": '{"flight_class": "Economy", "departure_date": "2026-03-05"}',
                },
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "booked"},
]

Ask = Callable[..., Awaitable[Any]]


def with_server(folder: Path, talk: Callable[[Client, Ask], Awaitable[None]], *options: str) -> None:
    """Start the server as a client does, and talk to it."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            *("-m", "prefine_dspy.mcp", "--store", str(folder / "m.db")),
            *("--program", "python:prefine_dspy.prefine:PRefine", "--lm", "python:scripted_server_lm:lm", *options),
        ],
        env={"PYTHONPATH": path, "SCRIPTED_LM_LOADED": str(folder / "loaded"), "PYTHONUTF8": "1"},
        cwd=folder,
    )

    async def run() -> None:
        async with Client(server, read_timeout_seconds=60) as client:

            async def ask(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            await talk(client, ask)

    asyncio.run(run())


async def error_of(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


def test_a_memorys_whole_life(tmp_path: Path) -> None:
    async def talk(client: Client, ask: Ask) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"complete_call", "observe_session", "show_memory", "correct_memory", "forget_me"}
        for tool in tools.values():
            assert "user" in tool.input_schema["required"], f"{tool.name} has no default user"
            assert tool.description

        observed = await ask("observe_session", user="ana", session=CHAT, tools=[TOOL], session_id="s1")
        assert observed["accepted"] and observed["hypothesis"] == "The user prefers low cost"
        again = await ask("observe_session", user="ana", session=CHAT, tools=[TOOL], session_id="s1")
        assert not again["accepted"] and again["reason"] == "the session was observed before"

        call = {"name": "GetFlights", "arguments": {"destination": "Oslo"}}
        completed = await ask("complete_call", user="ana", tools=[TOOL], call=call)
        (filled,) = completed["calls"]
        assert filled["arguments"] == {"destination": "Oslo", "flight_class": "Economy"}
        assert filled["sources"]["destination"]["origin"] == "given"
        source = filled["sources"]["flight_class"]
        assert (source["origin"], source["version"], source["sessions"]) == ("memory", 1, ["s1"])

        asked = await ask("complete_call", user="ana", tools=[TOOL], query="Book me a flight")
        assert asked["calls"][0]["arguments"] == {"flight_class": "Economy"}
        assert asked["calls"][0]["missing"] == ["destination"]

        stranger = await ask("complete_call", user="bo", tools=[TOOL], query="Book me a flight")
        assert stranger["calls"][0]["arguments"] == {}, "one user's memory is nobody else's"
        assert (await ask("show_memory", user="bo"))["known"] is False

        corrected = await ask("correct_memory", user="ana", text="wants to sit in the front")
        assert corrected["pinned"] and corrected["version"] == 2
        later = await ask("observe_session", user="ana", session=CHAT, tools=[TOOL])
        assert later["hypothesis"] == "wants to sit in the front" and later["reason"] == "a correction is pinned"
        released = await ask("correct_memory", user="ana", text="wants to sit in the front", pinned=False)
        assert not released["pinned"] and len(released["sessions"]) == 2

        assert await ask("forget_me", user="ana") == {"forgotten": True}
        assert await ask("show_memory", user="ana") == {**(await ask("show_memory", user="bo")), "known": False}
        assert await ask("forget_me", user="ana") == {"forgotten": False}

    with_server(tmp_path, talk)


def test_only_lasting_calls_are_kept_and_signed(tmp_path: Path) -> None:
    async def talk(client: Client, ask: Ask) -> None:
        await ask("observe_session", user="ana", session=CHAT, tools=[TOOL], session_id="s1")

    with_server(tmp_path, talk)
    with PreferenceStore(tmp_path / "m.db") as store:
        document = json.dumps(store.export("ana"))
        (version,) = store.history("ana")
    assert "canary-said" not in document and "2026-03-05" not in document
    assert version.calls[0].arguments == {"flight_class": "Economy"}
    assert version.lm == "scripted/script"
    assert version.program.startswith("PRefine@") and len(version.program) == len("PRefine@") + 16
    assert [step["stage"] for step in version.attempts] == ["generate", "verify"]


def test_what_complete_call_filled_does_not_confirm_itself(tmp_path: Path) -> None:
    async def talk(client: Client, ask: Ask) -> None:
        await ask("observe_session", user="ana", session=CHAT, tools=[TOOL], session_id="s1")
        call = {"name": "GetFlights", "arguments": {"destination": "Oslo"}}
        completed = (await ask("complete_call", user="ana", tools=[TOOL], call=call))["calls"]
        executed = {"calls": [{key: completed[0][key] for key in ("name", "arguments")}]}
        assert executed["calls"][0]["arguments"]["flight_class"] == "Economy"
        observe = {"user": "ana", "session": executed, "tools": [TOOL]}
        learnt = await ask("observe_session", **observe, session_id="s2", filled=completed)
        assert not learnt["accepted"] and learnt["reason"] == "the session holds no evidence"
        changed = {"calls": [{"name": "GetFlights", "arguments": {"flight_class": "Business"}}]}
        await ask("observe_session", user="ana", session=changed, tools=[TOOL], session_id="s3", filled=completed)
        text = await error_of(client, "observe_session", **observe, filled=[{"name": "GetFlights"}])
        assert "filled holds what complete_call answered" in text and "\n" not in text

    with_server(tmp_path, talk)
    with PreferenceStore(tmp_path / "m.db") as store:
        kept = [version.calls for version in store.history("ana")]
    assert [[call.arguments for call in calls] for calls in kept] == [
        [{"flight_class": "Economy"}],
        [],
        [{"flight_class": "Business"}],
    ]


def test_reading_correcting_and_forgetting_load_no_lm(tmp_path: Path) -> None:
    async def talk(client: Client, ask: Ask) -> None:
        await ask("show_memory", user="ana")
        await ask("correct_memory", user="ana", text="wants the window")
        await ask("forget_me", user="ana")
        assert not (tmp_path / "loaded").exists()
        await ask("complete_call", user="ana", tools=[TOOL], query="Book me a flight")
        assert (tmp_path / "loaded").exists()

    with_server(tmp_path, talk)


def test_errors_are_one_line_for_the_client(tmp_path: Path) -> None:
    async def talk(client: Client, ask: Ask) -> None:
        cases: list[tuple[str, dict[str, Any], str]] = [
            ("show_memory", {"user": ""}, "a user id is needed"),
            ("show_memory", {"user": "x" * 1_000_000}, "at most 256"),
            ("correct_memory", {"user": "ana", "text": "x" * 5_000}, "at most 4,000"),
            ("complete_call", {"user": "ana", "tools": [TOOL]}, "give a call, a query, or both"),
            ("complete_call", {"user": "ana", "tools": [], "query": "Book"}, "needs at least one tool"),
            ("complete_call", {"user": "ana", "tools": [{"x": 1}], "query": "Book"}, "is no tool"),
            ("complete_call", {"user": "ana", "tools": [TOOL], "call": {"name": "Nope"}}, "not among the tools"),
            ("complete_call", {"user": "ana", "tools": [TOOL], "query": "the LM shall fail"}, "this failed: "),
            ("observe_session", {"user": "ana", "session": [{"x": 1}]}, "neither a 'role'"),
        ]
        for tool, arguments, says in cases:
            text = await error_of(client, tool, **arguments)
            assert says in text and "\n" not in text and "Traceback" not in text, (tool, text)
        assert (await ask("show_memory", user="ana"))["known"] is False

    with_server(tmp_path, talk)


def test_an_unknown_program_is_said_when_it_is_needed(tmp_path: Path) -> None:
    async def talk(client: Client, ask: Ask) -> None:
        assert (await ask("show_memory", user="ana"))["known"] is False
        text = await error_of(client, "complete_call", user="ana", tools=[TOOL], query="Book me a flight")
        assert "no compiled program 'no-such-program'" in text and "\n" not in text

    with_server(tmp_path, talk, "--program", "no-such-program")


def test_a_program_that_reads_dialogues_again_asks_to_keep_them(tmp_path: Path) -> None:
    from scripted_server_lm import lm

    from prefine_dspy.agent import Agent
    from prefine_dspy.mcp_server.first_use import LoadedAgent
    from prefine_dspy.prefine import PRefine

    class Ready(AgentAtFirstUse):
        def __call__(self) -> LoadedAgent:
            return LoadedAgent(Agent(PRefine(record="full"), lm), "lm", "program")

    with PreferenceStore(tmp_path / "m.db") as store:
        with pytest.raises(InputError, match="--keep-dialogue"):
            MemoryTools(store, Ready("", "")).observe_session("ana", CHAT)
    with PreferenceStore(tmp_path / "m.db", keep_dialogue=True) as store:
        tools = MemoryTools(store, Ready("", ""))
        assert tools.observe_session("ana", CHAT).accepted
        assert "canary-said" in json.dumps(store.export("ana"))


def test_two_users_at_once_in_one_server(tmp_path: Path) -> None:
    """In one process, through the client: each gets the answer from their own memory."""

    async def run(server: Any) -> None:
        async with Client(server) as client:
            users = [f"user{number}" for number in range(8)]
            for user in users[::2]:
                await client.call_tool("correct_memory", {"user": user, "text": "The user prefers low cost"})
            asked = [
                client.call_tool("complete_call", {"user": user, "tools": [TOOL], "query": "Book me a flight"})
                for user in users
            ]
            answers = [result.structured_content["calls"][0]["arguments"] for result in await asyncio.gather(*asked)]
            assert answers == [{"flight_class": "Economy"}, {}] * 4

    with PreferenceStore(tmp_path / "m.db") as store:
        agent = AgentAtFirstUse("python:prefine_dspy.prefine:PRefine", "python:scripted_server_lm:lm")
        asyncio.run(run(server_of(MemoryTools(store, agent))))


@pytest.mark.parametrize("bad", ["python:", "python:os", "python:no_such_module:x", "python:os:no_such_name"])
def test_python_objects_that_are_not_there(bad: str) -> None:
    with pytest.raises(InputError):
        python_object(bad)


def test_a_store_that_does_not_open_ends_the_server_in_one_line(tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "prefine_dspy.mcp", "--store", "mysql://host/name"]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, cwd=ROOT)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: a store cannot be kept in mysql") and done.stderr.count("\n") == 1
