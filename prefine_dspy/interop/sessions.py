"""Whatever an agent keeps of a conversation, as a `Session`; whatever it knows of a request, as a `Query`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from prefine_dspy.errors import InputError
from prefine_dspy.interop.chat_log import is_chat_log, read_chat
from prefine_dspy.interop.mcp_log import is_mcp_log, read_mcp
from prefine_dspy.types import Query, Session


def to_session(session: Any, id: str) -> Session:
    """A finished conversation.

    Args:
        session: a Session (kept as it is, with its own id) or its JSON form, OpenAI chat messages or Responses items,
            or MCP's JSON-RPC messages. Failed and unanswered calls are no evidence and left out.
        id: for sessions that have none.

    Raises:
        InputError: it is none of them.
    """
    if isinstance(session, Session):
        return session
    if isinstance(session, Mapping) and "messages" not in session:
        try:
            return Session.model_validate({"id": id, **session})
        except ValidationError as error:
            raise InputError(f"the session does not fit Session: {error.errors()[0]['msg']}") from None
    messages = session.get("messages") if isinstance(session, Mapping) else session
    if isinstance(messages, str) or not isinstance(messages, Iterable):
        raise InputError(f"a session is a Session, chat messages or an MCP log, not {type(messages).__name__}")
    messages = list(messages)
    if not messages:
        return Session(id=id)
    if is_mcp_log(messages):
        log = read_mcp(messages)
    elif is_chat_log(messages):
        log = read_chat(messages)
    else:
        raise InputError("the session's messages have neither a 'role' (chat) nor a 'method' or 'result' (MCP)")
    return Session(id=id, turns=log.turns, calls=log.calls)


def to_query(query: Any) -> Query:
    """A request: a Query, its text, or the chat messages up to it.

    Raises:
        InputError: it is none of them, or nothing is said in it.
    """
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        turns = Query.of(query).turns if query.strip() else ()
    else:
        messages = list(query) if isinstance(query, Iterable) and not isinstance(query, Mapping) else []
        turns = read_chat(messages).turns if is_chat_log(messages) else ()
    if not any(turn.role == "user" and turn.text.strip() for turn in turns):
        raise InputError("the query is empty: give the user's words, or the chat messages up to them")
    return Query(id="query", turns=turns)
