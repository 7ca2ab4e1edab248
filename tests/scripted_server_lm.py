"""The LM of an MCP server under test: `--lm python:scripted_server_lm:lm`. Says so in a file when it is imported."""

from __future__ import annotations

import os
from pathlib import Path

from dspy import lm15
from scripted_lm import Answer, Script, lm_of, prompt_of, stage_of, verdict

if told := os.environ.get("SCRIPTED_LM_LOADED"):
    Path(told).write_text("loaded", encoding="utf-8")


def _answer(request: lm15.Request) -> Answer:
    prompt, stage = prompt_of(request), stage_of(request)
    print("an LM's library that prints on standard output")
    if "the LM shall fail" in prompt:
        return RuntimeError("no answer\nfrom the provider")
    if stage == "generate":
        return {"hypothesis": "The user prefers low cost"}
    if stage == "verify":
        return verdict()
    cheap = "prefers low cost" in prompt
    return {"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"} if cheap else {}}}


lm = lm_of(Script(_answer))
