"""The recorded tau-bench runs and VitaBench returns beside the checkout, as calls with what they returned."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One call of a recorded run with its return."""

    tool: str
    arguments: dict[str, Any]
    result: str


class Run(NamedTuple):
    """One recorded run."""

    id: str
    domain: str
    calls: list[Call]


@lru_cache(maxsize=1)
def tau_runs(folder: Path) -> list[Run]:
    """The 200 airline and 115 retail runs."""
    return [
        Run(one["id"], one["domain"], list(_calls(one["messages"])))
        for one in _lines(folder / "tau_trajectories.jsonl.gz")
    ]


@lru_cache(maxsize=1)
def vita_returns(folder: Path) -> list[dict[str, Any]]:
    """The 178 tool returns, each with the `gold` records behind it."""
    return _lines(folder / "vita_returns.jsonl.gz")


def _calls(messages: list[dict[str, Any]]) -> Iterator[Call]:
    function: dict[str, Any] = {}
    for message in messages:
        for call in message.get("tool_calls") or []:
            function = call["function"]
        if message["role"] == "tool":
            yield Call(function["name"], json.loads(function["arguments"]), message["content"])


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
