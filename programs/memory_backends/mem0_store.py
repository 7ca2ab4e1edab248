"""Mem0's open-source library: facts that an LM reads out of a session, in a Qdrant store on disk."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
import threading
import uuid
from collections.abc import Sequence
from functools import cache
from hashlib import md5
from typing import Any

from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.types import Note, Session
from programs.memory_backends.embedding import CountedEmbedding
from programs.memory_backends.library_lm import LibraryLM
from programs.memory_backends.protocol import Supplies
from programs.memory_backends.texts import messages

USER = "user"
ALL = 100_000  # facts of one user at most
NOWHERE = "http://127.0.0.1:9"
# the prompt names today's date; histories have none, and a run that goes on tomorrow has to ask the same
_DATE = re.compile(r"(## (?:Observation|Current) Date\n)\d{4}-\d\d-\d\d")
FIXED_DATE = "2025-01-01"
_SCOPE = f"user_id={USER}"
_MESSAGES_KEPT = 10  # sessions whose messages may still be among the last that the prompt shows
_import_lock = threading.Lock()

SCHEMA = {
    "type": "object",
    "properties": {
        "memory": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string"},
                    "attributed_to": {"type": "string", "enum": ["user", "assistant"]},
                    "linked_memory_ids": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["id", "text", "attributed_to"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memory"],
    "additionalProperties": False,
}
"""The answer that the library's prompt asks for; the library itself only asks for some JSON object."""


@cache
def memory_class() -> Any:
    """`mem0.Memory`, imported without telemetry and without its folder in the home directory.

    Raises:
        MissingExtra: the library is not installed.
        InputError: somebody imported it before with telemetry on.
    """
    with _import_lock:
        before = {name: os.environ.get(name) for name in ("MEM0_TELEMETRY", "MEM0_DIR")}
        # it is made at import, and there is no other way to say where
        home = tempfile.mkdtemp(prefix="mem0-home-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=home)
        try:
            from mem0 import Memory
            from mem0.memory import telemetry
        except ImportError:
            raise MissingExtra("mem0", "mem0") from None
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
    if telemetry.MEM0_TELEMETRY:
        raise InputError("mem0 was imported with its telemetry on: set MEM0_TELEMETRY=False and start again")
    return Memory


class _LM:
    """mem0's LM."""

    def __init__(self, lm: LibraryLM, config: Any) -> None:
        self.config = config
        self._lm = lm

    def generate_response(self, messages: list[dict[str, Any]], **_: Any) -> str:
        dated = [{**one, "content": _DATE.sub(rf"\g<1>{FIXED_DATE}", str(one["content"]))} for one in messages]
        return self._lm.ask(dated, SCHEMA, usable=_usable)


class _Embedder:
    """mem0's embedding model."""

    def __init__(self, embed: CountedEmbedding, config: Any) -> None:
        self.config = config
        self._embed = embed

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._embed([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return self._embed(texts) if texts else []


class Mem0Store:
    """One user's facts in `mem0.Memory`.

    Args:
        supplies: see there.
        notes: a fact each; `data` has who it is attributed to.
        seen: the sessions so far: the library shows its LM the latest messages again.
        calls: executed calls belong to the messages.
    """

    def __init__(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session], calls: bool) -> None:
        self._calls = calls
        self._known = [note.id for note in notes]
        self._new: list[str] = []
        self._memory = _opened(supplies)
        if notes:
            self._memory.vector_store.insert(
                vectors=supplies.embed.stored([note.text for note in notes]),
                ids=[note.id for note in notes],
                payloads=[_payload(note) for note in notes],
            )
        for session in seen[-_MESSAGES_KEPT:]:
            self._memory.db.save_messages(messages(session, calls), _SCOPE)

    def add(self, session: Session) -> None:
        number = len(self._known)
        try:
            self._memory.add(messages(session, self._calls), user_id=USER)
        finally:
            # its ids are random; in their place come some that every run gives
            found = self._facts()
            fresh = sorted(set(found) - set(self._known), key=lambda one: str(found[one]["data"]))
            self._renamed = {
                one: str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session.id}/{number + place}"))
                for place, one in enumerate(fresh)
            }
            self._new = fresh

    def notes(self) -> tuple[Note, ...]:
        facts = self._facts()
        return tuple(
            Note(id=self._renamed[one] if one in self._new else one, text=facts[one]["data"], data=_extra(facts[one]))
            for one in (*self._known, *self._new)
        )

    def retrieve(self, query: str, k: int) -> list[Note]:
        found = self._memory.search(query, filters={"user_id": USER}, top_k=k, threshold=0.0)["results"]
        return [Note(id=one["id"], text=one["memory"]) for one in found]

    def close(self) -> None:
        # Memory.close leaves the store open
        self._memory.vector_store.client.close()
        self._memory.close()

    def _facts(self) -> dict[str, dict[str, Any]]:
        points, _ = self._memory.vector_store.list(top_k=ALL)
        return {str(point.id): point.payload for point in points}


def _opened(supplies: Supplies) -> Any:
    unused = {"model": "unused", "api_key": "unused", "openai_base_url": NOWHERE}
    dimensions = supplies.embed.dimensions
    memory = memory_class().from_config(
        {
            "llm": {"provider": "openai", "config": unused},
            "embedder": {"provider": "openai", "config": {**unused, "embedding_dims": dimensions}},
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": "facts",
                    "path": str(supplies.folder / "qdrant"),
                    "embedding_model_dims": dimensions,
                    "on_disk": True,
                },
            },
            "history_db_path": str(supplies.folder / "history.db"),
        }
    )
    memory.llm = _LM(supplies.lm, memory.llm.config)
    memory.embedding_model = _Embedder(supplies.embed, memory.embedding_model.config)
    memory.vector_store._bm25_encoder = False  # fastembed, where installed, would download its model
    return memory


def _usable(reply: str) -> bool:
    """Whether mem0 can read an answer: an object, also in a code block or in prose, with a list of facts."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        facts = json.loads(reply[start : end + 1], strict=False)["memory"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return isinstance(facts, list) and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in facts)


def _payload(note: Note) -> dict[str, Any]:
    """What mem0 keeps with a vector, without the times at which it did."""
    return {"user_id": USER, "data": note.text, "hash": md5(note.text.encode()).hexdigest(), **note.data}


def _extra(payload: dict[str, Any]) -> dict[str, Any]:
    return {"attributed_to": payload["attributed_to"]} if payload.get("attributed_to") else {}
