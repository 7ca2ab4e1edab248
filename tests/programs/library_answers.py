"""What an LM would answer to each memory library: always the same to the same prompt."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import dspy
from dspy import lm15

from tests.scripted_lm import Script, prompt_of

CALL = {"call": {"function": "GetFlights", "arguments": {"flight_class": "Economy"}}}


def obedient(request: lm15.Request) -> Any:
    """The answer that the schema of a request asks for."""
    form = (request.config.response_format or {}).get("schema", {})
    prompt, fields = prompt_of(request), form.get("properties", {})
    mark = hashlib.sha256(prompt.encode()).hexdigest()[:8]
    if "memory" in fields:
        return {"memory": [{"id": "0", "text": f"User likes {mark}", "attributed_to": "user"}]}
    if "calls" in fields:
        return {"calls": _calls([one["properties"]["name"]["const"] for one in _kinds(form)], prompt, mark)}
    if "keywords" in fields:
        return {"keywords": [mark], "context": f"about {mark}", "tags": ["travel"]}
    if "should_evolve" in fields:
        near = re.findall(r"memory_id:(\S+)", prompt)
        return {
            "should_evolve": True,
            "actions": ["strengthen", "update_neighbor"],
            "suggested_connections": near[:1],
            "tags_to_update": [f"tag {mark}"],
            "new_context_neighborhood": [f"seen by {mark}" for _ in near],
            "new_tags_neighborhood": [["near"] for _ in near],
        }
    return CALL


def _kinds(form: dict[str, Any]) -> list[dict[str, Any]]:
    kinds: list[dict[str, Any]] = form["properties"]["calls"]["items"]["anyOf"]
    return kinds


def _calls(names: list[str], prompt: str, mark: str) -> list[dict[str, Any]]:
    if "SemanticMemory" in names:
        episode = {"situation": "a flight", "action": "booked", "outcome": mark}
        return [
            {"name": "SemanticMemory", "args": {"content": f"User likes {mark}"}},
            {"name": "EpisodicMemory", "args": episode},
        ]
    document = re.findall(r"instance id=(\S+)", prompt)[0]
    patch = {"op": "add", "path": "/preferences/-", "value": mark}
    return [{"name": "PatchDoc", "args": {"json_doc_id": document, "planned_edits": "none", "patches": [patch]}}]


def cached_lm(script: Script) -> dspy.LM:
    """An LM whose calls a run journals."""
    return dspy.LM("scripted/library", engine=script, temperature=0.0, max_tokens=100, cache=True, num_retries=0)
