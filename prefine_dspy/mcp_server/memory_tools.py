"""The tools, without the protocol. Their docstrings and annotations are what an LM on the other side reads."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from prefine_dspy.errors import InputError
from prefine_dspy.mcp_server.answers import (
    Completion,
    FilledCall,
    Forgotten,
    Observed,
    Shown,
    completion_of,
    observed_of,
    shown_of,
)
from prefine_dspy.mcp_server.first_use import AgentAtFirstUse
from prefine_dspy.store import PreferenceStore, Version
from prefine_dspy.types import ToolCall

if TYPE_CHECKING:
    from prefine_dspy.user_memory import UserMemory

User = Annotated[str, Field(description="The user's id; nothing is ever shared between two ids.")]
Tools = Annotated[
    list[dict[str, Any]], Field(description="The tools that may be called: MCP tools or OpenAI function definitions.")
]


class MemoryTools:
    """The tools, without the protocol.

    Args:
        store: of all users.
        agent: for the tools that ask an LM.
    """

    def __init__(self, store: PreferenceStore, agent: AgentAtFirstUse) -> None:
        self.store = store
        self.agent = agent

    def complete_call(
        self,
        user: User,
        tools: Tools,
        call: Annotated[
            dict[str, Any] | None,
            Field(description="A call that lacks arguments: {name, arguments}. What it states is kept."),
        ] = None,
        query: Annotated[
            str | list[dict[str, Any]] | None, Field(description="The user's words, or the chat messages so far.")
        ] = None,
    ) -> Completion:
        """Complete a tool call from what is remembered of the user. Give the call you mean to make, or the user's query
        to have the call chosen too, or both. Arguments that neither the query nor the memory supports stay open."""
        from prefine_dspy.completion import complete

        if call is None and query is None:
            raise InputError("give a call, a query, or both")
        memory, latest = self._user_memory(user)
        if call is None and query is not None:
            result = self.agent().agent(query, tools, memory)
        else:
            result = complete(call, memory, tools, query=query, agent=self.agent().agent)
        return completion_of(result, latest)

    def observe_session(
        self,
        user: User,
        session: Annotated[
            dict[str, Any] | list[dict[str, Any]],
            Field(
                description="The finished session: chat messages with tool calls and results, MCP's JSON-RPC messages, "
                "or {id, turns: [{role, text}], calls: [{name, arguments}]}."
            ),
        ],
        tools: Annotated[
            list[dict[str, Any]] | None, Field(description="The session's tools; their types tell what is transient.")
        ] = None,
        session_id: Annotated[
            str | None, Field(description="Give it to be able to send a session again after a failure.")
        ] = None,
        filled: Annotated[
            list[dict[str, Any]] | None,
            Field(
                description="The calls that complete_call answered in this session, with their sources, as it gave "
                "them. Leave out arguments that the user was shown and confirmed."
            ),
        ] = None,
    ) -> Observed:
        """Learn from a finished session. Its calls that worked are kept, and the hypothesis about the user is revised
        when they give reason to. Give the calls that complete_call answered as `filled`: what they took from the memory
        is then no evidence for it, unless the user said it too or another value was executed; else it would confirm
        itself. What was said is read once and not kept, nor are arguments that say what was done this once (dates,
        places)."""
        from prefine_dspy.interop.catalogue import catalogue, covering
        from prefine_dspy.interop.sessions import to_session
        from prefine_dspy.provenance import without_filled

        new = to_session(session, session_id or f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}-{secrets.token_hex(3)}")
        new = new if session_id is None else new.model_copy(update={"id": session_id})
        new = without_filled(new, [_origins(one) for one in filled or ()])
        agent, lm, program = self.agent()
        if agent.keeps_dialogue and not self.store.keep_dialogue:
            raise InputError("this program reads whole dialogues again: start the server with --keep-dialogue")
        known = covering(catalogue(tools) if tools else None, new.calls) or catalogue([{"name": "none"}])
        update = self.store.update(user, new, agent.updater(known), tools=known, lm=lm[:256], program=program)
        return observed_of(new.id, update)

    def show_memory(self, user: User) -> Shown:
        """What is remembered of the user, in words that they can read."""
        memory, latest = self.store.get(user), self.store.latest(user)
        return shown_of(memory, latest)

    def correct_memory(
        self,
        user: User,
        text: Annotated[str, Field(description="What is to be remembered, in the user's own words.")],
        pinned: Annotated[
            bool, Field(description="Keep it whatever later sessions show; false lets them revise.")
        ] = True,
    ) -> Shown:
        """Replace what is remembered by the user's own words. To take a pin off, send the text with pinned=false."""
        self.store.correct(user, text, pinned=pinned)
        return self.show_memory(user)

    def forget_me(self, user: User) -> Forgotten:
        """Delete everything that is remembered of the user, for good."""
        return Forgotten(forgotten=self.store.forget(user))

    def _user_memory(self, user: str) -> tuple[UserMemory, Version | None]:
        from prefine_dspy.user_memory import UserMemory

        memory, latest = self.store.get(user), self.store.latest(user)
        found = UserMemory.of(memory, self.store.sessions(user))
        if latest is not None and latest.pinned:
            found = found.model_copy(update={"basis": ()})  # a person's words rest on no session
        return found, latest


def _origins(filled: dict[str, Any]) -> tuple[ToolCall, dict[str, str]]:
    try:
        call = FilledCall.model_validate(filled)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"filled holds what complete_call answered as calls: {place}: {first['msg']}") from None
    origins = {name: str(source.get("origin")) for name, source in call.sources.items()}
    return ToolCall(name=call.name, arguments=call.arguments), origins
