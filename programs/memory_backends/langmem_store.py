"""LangMem's store manager: semantic, episodic and procedural snippets, and a profile of the user."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from langchain_core.messages import convert_to_messages
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager
from langsmith import tracing_context
from pydantic import BaseModel, Field

from prefine_dspy.types import Note, Session
from programs.memory_backends.langchain_chat import LibraryChat
from programs.memory_backends.protocol import Supplies
from programs.memory_backends.texts import messages

ROOT = "memories"
SNIPPETS, PROFILE = (ROOT, "snippets"), (ROOT, "profile")
# trustcall asks again and again after an exception, and only LangGraph stops it: after 10,000 steps if nobody says less
MOST_STEPS = 25
LOOKED_UP = 8  # existing memories shown to the writer; below 4 the library looks up none


class SemanticMemory(BaseModel):
    """A lasting fact about the user or a preference of theirs. Call once for each."""

    content: str = Field(description="one standalone sentence")


class EpisodicMemory(BaseModel):
    """What happened in this session and what came of it. Call once for each episode."""

    situation: str = Field(description="what the user wanted")
    action: str = Field(description="what was done for them")
    outcome: str = Field(description="what they chose or how it ended")


class ProceduralMemory(BaseModel):
    """A rule for how to serve this user in the future. Call once for each."""

    content: str = Field(description="one standalone instruction")


class UserProfile(BaseModel):
    """What is known of the user."""

    about: str = Field(default="", description="who they are")
    preferences: list[str] = Field(default_factory=list, description="what they choose when they can")
    constraints: list[str] = Field(default_factory=list, description="what they avoid or cannot do")


class LangMemStore:
    """One user's memories in LangMem, with LangGraph's store in memory: its content is in the notes.

    Args:
        supplies: see there; the library has no files.
        notes: a memory each; `data` has its kind and content.
        calls: executed calls belong to the messages.
    """

    def __init__(self, supplies: Supplies, notes: Sequence[Note], calls: bool) -> None:
        self._calls = calls
        # one text a memory: the store fails on a memory two of whose fields say the same
        self._store = InMemoryStore(
            index={
                "dims": supplies.embed.dimensions,
                "embed": lambda texts: supplies.embed([_embedded(text) for text in texts]),
                "fields": ["content"],
            }
        )
        chat = LibraryChat(lm=supplies.lm)
        shared: dict[str, Any] = {"store": self._store, "query_limit": LOOKED_UP, "enable_deletes": False}
        kinds = [SemanticMemory, EpisodicMemory, ProceduralMemory]
        self._managers = [
            create_memory_store_manager(chat, schemas=kinds, namespace=SNIPPETS, **shared),
            create_memory_store_manager(
                chat, schemas=[UserProfile], default=UserProfile(), enable_inserts=False, namespace=PROFILE, **shared
            ),
        ]
        self._order = [(_namespace(note.data["kind"]), note.id) for note in notes]
        self._renamed: dict[str, str] = {}
        for note in notes:
            self._store.put(_namespace(note.data["kind"]), note.id, dict(note.data))

    def add(self, session: Session) -> None:
        chat = convert_to_messages(messages(session, self._calls))
        with tracing_context(enabled=False):
            for manager in self._managers:
                for put in manager.invoke({"messages": chat, "max_steps": 1}, {"recursion_limit": MOST_STEPS}):
                    place = (tuple(put["namespace"]), put["key"])
                    if place not in self._order:
                        self._order.append(place)
                        if _is_random(put["key"]):
                            self._renamed[put["key"]] = f"{session.id}:{len(self._renamed) + 1}"

    def notes(self) -> tuple[Note, ...]:
        found = ((key, self._store.get(namespace, key)) for namespace, key in self._order)
        made = (_note(self._renamed.get(key, key), item.value) for key, item in found if item is not None)
        return tuple(note for note in made if note.text)

    def retrieve(self, query: str, k: int) -> list[Note]:
        # both namespaces at once, which is what a manager's own search does with one
        found = self._store.search((ROOT,), query=query, limit=k)
        return [_note(item.key, item.value) for item in found]

    def close(self) -> None:
        """The store is in memory."""


def _namespace(kind: Any) -> tuple[str, str]:
    return PROFILE if kind == UserProfile.__name__ else SNIPPETS


def _is_random(key: str) -> bool:
    try:
        return UUID(key).version == 4
    except ValueError:
        return False


def _note(key: str, value: dict[str, Any]) -> Note:
    return Note(id=key, text=_text(value["content"]), data={"kind": value["kind"], "content": value["content"]})


def _embedded(text: str) -> str:
    """What is embedded of a text: of a memory, which the store passes on as JSON, that which an LM will read."""
    try:
        return _text(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _text(content: Any) -> str:
    """A memory's fields, those that say something; their names only where there are several."""
    if not isinstance(content, dict):
        return str(content)
    said = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value) for name, value in content.items()
    }
    said = {name: text for name, text in said.items() if text.strip()}
    return (
        next(iter(said.values()), "")
        if set(content) == {"content"}
        else "; ".join(f"{a}: {b}" for a, b in said.items())
    )
