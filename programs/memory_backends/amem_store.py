"""A-MEM as the package index has it (a-mem, a fork of agiresearch/A-mem): linked notes that later ones rewrite."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import jsonschema
import numpy as np

from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.types import Note, Session
from programs.memory_backends.account import Account
from programs.memory_backends.embedding import CountedEmbedding
from programs.memory_backends.library_lm import LibraryLM
from programs.memory_backends.protocol import Supplies
from programs.memory_backends.texts import Utterance, utterances

SYSTEM = "You must respond with a JSON object."  # of the library's own controller
# prompts show a note's time; histories have none, so session n took place on day n
FIRST_DAY = datetime(2025, 1, 1, 12)
KEPT = ("content", "context", "keywords", "tags", "links", "timestamp")
UNCHANGED: dict[str, Any] = {
    "should_evolve": False,
    "actions": [],
    "suggested_connections": [],
    "tags_to_update": [],
    "new_context_neighborhood": [],
    "new_tags_neighborhood": [],
}


@cache
def modules() -> tuple[Any, Any]:
    """`agentic_memory.memory_system` and Chroma's embedding function for sentence-transformers.

    Raises:
        MissingExtra: the library is not installed.
        InputError: another package of that import name is.
    """
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    try:
        from agentic_memory import memory_system
        from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction
    except ImportError as error:
        if error.name == "agentic_memory" and not isinstance(error, ModuleNotFoundError):
            raise InputError(
                "agentic_memory here is another package than a-mem: pip uninstall agentic-memory, then "
                "pip install 'prefine-dspy[amem]'"
            ) from None
        raise MissingExtra("amem", "amem") from None
    return memory_system, SentenceTransformerEmbeddingFunction


class _Controller:
    """A-MEM's LM. It gives the library nothing but answers that it can use: in place of others comes what it would
    make of them, and they are counted."""

    def __init__(self, lm: LibraryLM) -> None:
        self._lm = lm

    def get_completion(self, prompt: str, response_format: dict[str, Any] | None = None, **_: Any) -> str:
        schema = _strict((response_format or {}).get("json_schema", {}).get("schema", {"type": "object"}))
        chat = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        answer = self._lm.ask(chat, schema, usable=lambda reply: _fits(reply, schema))
        if _fits(answer, schema):
            return answer
        return json.dumps(UNCHANGED if "should_evolve" in schema.get("properties", {}) else {})


class _Encoder:
    """Stands where Chroma expects a sentence-transformers model."""

    def __init__(self, embed: CountedEmbedding) -> None:
        self._embed = embed

    def encode(self, texts: list[str], **_: Any) -> Any:
        return np.asarray(self._embed(texts), dtype=np.float32)


class AMemStore:
    """One user's notes in `AgenticMemorySystem`.

    Args:
        supplies: see there.
        notes: one of the library's notes each; `data` has its parts.
        seen: the sessions so far.
        calls: executed calls belong to the assistant's side.
    """

    def __init__(self, supplies: Supplies, notes: Sequence[Note], seen: Sequence[Session], calls: bool) -> None:
        self._account: Account = supplies.account
        self._calls = calls
        self._session = len(seen) + 1
        self._ids = [note.id for note in notes]
        self._system, self._library, self._models, self._name = _opened(supplies, most=len(notes))
        for note in notes:
            kept = self._library.MemoryNote(id=note.id, **note.data)
            self._system.cache.put(note.id, kept)
            self._system.retriever.add_document(kept.content, self._system._memory_note_to_metadata(kept), note.id)

    def add(self, session: Session) -> None:
        day = FIRST_DAY + timedelta(days=self._session - 1)
        for number, pair in enumerate(_pairs(utterances(session, self._calls)), start=1):
            name = f"s{self._session}-{number}"
            text = "\n".join(f"{one.role}: {one.text}" for one in pair)
            when = (day + timedelta(minutes=number)).strftime("%Y%m%d%H%M")
            try:
                self._system.add_note(text, time=when, id=name)
            except Exception as error:
                if self._account.error is not None:
                    raise
                self._account.failure(f"{type(error).__name__}: {error}")
                continue
            self._account.raise_lost()
            self._ids.append(name)

    def notes(self) -> tuple[Note, ...]:
        return tuple(self._note(one) for one in self._ids)

    def retrieve(self, query: str, k: int) -> list[Note]:
        return [self._note(found["id"]) for found in self._system.search(query, k=k)]

    def close(self) -> None:
        self._system.retriever.client.close()
        self._models.pop(self._name, None)

    def _note(self, name: str) -> Note:
        note = self._system.read(name)
        data = {part: getattr(note, part) for part in KEPT}
        return Note(id=name, text=_text(data), data=data)


def _opened(supplies: Supplies, most: int) -> tuple[Any, Any, dict[str, Any], str]:
    library, function = modules()
    # Chroma looks for a loaded model of that name before it loads one
    name = f"prefine:{supplies.folder}"
    function.models[name] = _Encoder(supplies.embed)
    system = library.AgenticMemorySystem(
        model_name=name,
        llm_backend="openai",
        llm_model="unused",
        api_key="unused",
        storage_path=str(supplies.folder / "chroma"),
        cache_size=most + 1_000,  # nothing may fall out of it: it is where notes are read from
    )
    system.llm_controller.llm = _Controller(supplies.lm)
    return system, library, function.models, name


def _pairs(said: Sequence[Utterance]) -> Iterator[list[Utterance]]:
    """A user's turn with what the assistant answered."""
    pair: list[Utterance] = []
    for one in said:
        if one.role == "user" and pair:
            yield pair
            pair = []
        pair.append(one)
    if pair:
        yield pair


def _text(data: dict[str, Any]) -> str:
    """A note as its library shows it to an LM, without its time."""
    lists = {name: ", ".join(map(str, data[name])) for name in ("keywords", "tags")}
    return f"{data['content']} context: {data['context']} keywords: {lists['keywords']} tags: {lists['tags']}"


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """With every property required: the library's own schema of an analysis is met by {}."""
    return schema | {"required": list(schema.get("properties", {})), "additionalProperties": False}


def _fits(reply: str, schema: dict[str, Any]) -> bool:
    try:
        jsonschema.validate(json.loads(reply), schema)
    except (ValueError, jsonschema.ValidationError, RecursionError):
        return False
    return True
