"""Fill in what another agent's partial call lacks.

The agent has understood the request; the memory adds what this user would have said. Only the arguments that the call
lacks are put before the LM, so that what was stated cannot be overridden.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import dspy

from prefine_dspy.agent import Agent, AnyMemory, as_user_memory, load
from prefine_dspy.errors import InputError
from prefine_dspy.interop.catalogue import Transient, catalogue
from prefine_dspy.interop.results import Calls, read_call
from prefine_dspy.interop.sessions import to_query
from prefine_dspy.provenance import Source
from prefine_dspy.result import Result, missing_in, with_defaults
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import Query, ToolCall, Turn

_GIVEN = Source(origin="given", why_no_confidence="given in the call, not the LM's choice")
DEFAULT_PROGRAM = "prefine-mpt"


def complete(
    call: Any,
    memory: AnyMemory,
    tools: Any,
    *,
    query: Any = None,
    agent: Agent | None = None,
    lm: str | dspy.BaseLM = "local",
    transient: Transient | None = None,
) -> Result:
    """One call, completed from a user's memory.

    Args:
        call: what another agent decided; see `interop.read_call`. What it gives is kept as it is.
        memory: the user's; without one (and without a query) nothing can be filled in, and no LM is asked.
        tools: those of the other agent; see `interop.catalogue`.
        query: the user's words or the chat messages, if they are known: transient arguments can only come from there.
        agent: a loaded program; None loads the shipped one for `lm`, once a process.
        lm: for that; a name or any dspy.LM.
        transient: see `interop.catalogue`.

    Returns:
        A result with exactly one call; its sources say "given" for what was stated.

    Raises:
        InputError: the call's function is not among the tools, or something else is not usable.
    """
    given, known = _read(call, tools, transient)
    asked = _lacking(given, known, memory, query)
    if asked is None:
        return _merged(given, Result(), known)
    return _merged(given, _agent(agent, lm)(_request(given, query), asked, memory), known)


async def acomplete(
    call: Any,
    memory: AnyMemory,
    tools: Any,
    *,
    query: Any = None,
    agent: Agent | None = None,
    lm: str | dspy.BaseLM = "local",
    transient: Transient | None = None,
) -> Result:
    """See `complete`."""
    given, known = _read(call, tools, transient)
    asked = _lacking(given, known, memory, query)
    if asked is None:
        return _merged(given, Result(), known)
    return _merged(given, await _agent(agent, lm).acall(_request(given, query), asked, memory), known)


def _agent(agent: Agent | None, lm: str | dspy.BaseLM) -> Agent:
    return agent or (_loaded(lm) if isinstance(lm, str) else load(DEFAULT_PROGRAM, lm))


@lru_cache(maxsize=4)
def _loaded(lm: str, program: str | Path = DEFAULT_PROGRAM) -> Agent:
    return load(program, lm)


def _read(call: Any, tools: Any, transient: Transient | None) -> tuple[ToolCall, Catalogue]:
    given, known = read_call(call), catalogue(tools, transient)
    if given.name not in known:
        names = ", ".join(tool.name for tool in known)
        raise InputError(f"the call is of {given.name}, which is not among the tools: {names}")
    return given, known


def _lacking(given: ToolCall, known: Catalogue, memory: AnyMemory, query: Any) -> list[Tool] | None:
    """The tool with nothing but the arguments that may be filled in, or None if there is none."""
    user = as_user_memory(memory)
    if query is None and not user.text and not user.record:
        return None
    tool = known.get(given.name)
    parameters = tuple(one for one in (tool.parameters if tool else ()) if _is_open(one, given, query))
    return [tool.model_copy(update={"parameters": parameters})] if tool and parameters else None


def _is_open(parameter: Parameter, given: ToolCall, query: Any) -> bool:
    return parameter.name not in given.arguments and (query is not None or not parameter.transient)


def _request(given: ToolCall, query: Any) -> Query:
    """What the LM reads as the conversation: the user's words, and what the other agent has decided already."""
    decided = Turn(role="assistant", text=f"I am about to call {given}; the rest is still open.")
    turns = to_query(query).turns if query is not None else ()
    return Query(id="query", turns=(*turns, decided) if turns else (Turn(role="user", text=f"Call {given}"),))


def _merged(given: ToolCall, filled: Result, tools: Catalogue) -> Result:
    """The given call with what was filled in for it."""
    added = next((one for one in range(len(filled.calls)) if filled.calls[one].name == given.name), None)
    arguments, sources = {}, {}
    if added is not None:
        arguments, sources = dict(filled.calls[added].arguments), dict(filled.sources[added])
    call, defaults = with_defaults(ToolCall(name=given.name, arguments={**arguments, **given.arguments}), tools)
    sources |= {name: Source(origin="default", why_no_confidence="the tool's default") for name in defaults}
    sources |= {name: _GIVEN for name in given.arguments}
    return replace(filled, calls=Calls([call]), sources=(sources,), missing=(missing_in(call, tools),))
