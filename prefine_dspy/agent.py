"""A compiled program inside another agent.

    import prefine_dspy as pf

    agent = pf.load("prefine-mpt", lm="local")
    memory = agent.update(memory, session)  # after a session; None to begin
    result = agent(query="Book me a flight to Paris", tools=my_tools, memory=memory)

No global setting is touched: every call runs in its own `dspy.context`, and the agent itself holds nothing of any user,
so one agent serves many users at once, in threads and in asyncio tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import LMUnsupportedFeatureError

from prefine_dspy.caller import ToolCaller
from prefine_dspy.confidence import scored
from prefine_dspy.errors import InputError
from prefine_dspy.hypothesis import HypothesisMemory
from prefine_dspy.interop.catalogue import Transient, catalogue, covering
from prefine_dspy.interop.prompted import prompted
from prefine_dspy.interop.sessions import to_query, to_session
from prefine_dspy.manifest import Manifest
from prefine_dspy.predictive import ContrastiveCaller, PredictiveMemory
from prefine_dspy.rendering import memory_text, sessions_text
from prefine_dspy.result import Asked, Result, result_of
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Memory, MemoryUpdate, Query, Session
from prefine_dspy.user_memory import UserMemory

AnyMemory = UserMemory | Memory | str | None


class _Update(NamedTuple):
    """What one session asks of the memory program."""

    before: UserMemory
    sessions: tuple[Session, ...]
    tools: Catalogue


class Agent:
    """A program with its LM, as other agents call it.

    Args:
        program: has a `ToolCaller` as `caller`, and a `HypothesisMemory` as `memory` unless it reads whole histories
            (`PRefine`, `FullHistory`).
        lm: answers everything. A copy is used; prompts hold what is known of a user, so they go neither into DSPy's
            history nor into its cache on disk.
        manifest: of a compiled program.
        confidence: ask the LM for log-probabilities where it offers them.
        cache: use DSPy's cache all the same.
    """

    def __init__(
        self,
        program: dspy.Module,
        lm: dspy.BaseLM,
        *,
        manifest: Manifest | None = None,
        confidence: bool = True,
        cache: bool = False,
    ) -> None:
        caller = getattr(program, "caller", None)
        if not isinstance(caller, ToolCaller):
            raise InputError(f"{type(program).__name__} has no ToolCaller as `caller`: load PRefine or FullHistory")
        builder = getattr(program, "memory", None)
        self.program = program
        self.manifest = manifest
        self._caller: ToolCaller = caller
        self._builder: HypothesisMemory | PredictiveMemory | None = (
            builder if isinstance(builder, HypothesisMemory | PredictiveMemory) else None
        )
        self._lm = lm.copy(cache=cache)
        self._scored_lm, self._why_unscored = self._lm, "log-probabilities were switched off (confidence=False)"
        if confidence:
            self._scored_lm, self._why_unscored = scored(self._lm)

    @property
    def keeps_dialogue(self) -> bool:
        """Whether memories hold what was said: for programs that read it again at later sessions or queries."""
        return self._builder is None or self._builder.record == "full"

    # -- a query

    def __call__(
        self,
        query: str | Query | Iterable[Any],
        tools: Any,
        memory: AnyMemory = None,
        *,
        transient: Transient | None = None,
    ) -> Result:
        """The calls that the user's request means, with what this user would have said filled in.

        Args:
            query: the user's words, or the chat messages up to the decision.
            tools: see `interop.catalogue`.
            memory: from `update`; None for an unknown user. A text is taken for a hypothesis.
            transient: see `interop.catalogue`.

        Raises:
            InputError: something is not usable. The LM's own errors come through as DSPy raises them; an answer that
                cannot be read is a result without calls.
        """
        asked = self._asked(query, tools, memory, transient)
        try:
            with self._settings(self._scored_lm):
                return result_of(asked, self._caller(**asked.inputs()), self._why_unscored)
        except LMUnsupportedFeatureError:
            if self._scored_lm is self._lm:
                raise
        with self._settings(self._lm):
            return result_of(asked, self._caller(**asked.inputs()), "the LM refused to give log-probabilities")

    async def acall(
        self,
        query: str | Query | Iterable[Any],
        tools: Any,
        memory: AnyMemory = None,
        *,
        transient: Transient | None = None,
    ) -> Result:
        """See `__call__`."""
        asked = self._asked(query, tools, memory, transient)
        try:
            with self._settings(self._scored_lm):
                return result_of(asked, await self._caller.acall(**asked.inputs()), self._why_unscored)
        except LMUnsupportedFeatureError:
            # an LM without an async side, or without log-probabilities
            return await asyncio.to_thread(self.__call__, query, tools, memory, transient=transient)

    def _asked(self, query: Any, tools: Any, memory: AnyMemory, transient: Transient | None) -> Asked:
        known = catalogue(tools, transient)
        user = as_user_memory(memory)
        whole = isinstance(self._caller, ContrastiveCaller)
        return Asked(to_query(query), known, prompted(known), user, self.memory_text(user), reads_memory=whole)

    def memory_text(self, memory: UserMemory) -> str:
        """A memory as the program reads it with a query."""
        if self._builder is None and memory.record:
            return sessions_text(memory.record)
        return memory_text(memory.memory)

    # -- a session

    def update(
        self,
        memory: AnyMemory,
        session: Any,
        tools: Any = None,
        *,
        id: str | None = None,
        transient: Transient | None = None,
    ) -> UserMemory:
        """The memory after a finished session; the old value is not changed.

        Args:
            memory: the user's, from the update before; None to begin.
            session: see `interop.to_session`.
            tools: those of the session, to tell transient from lasting arguments; without them their names and values
                must do.
            id: of the session, for provenance; "session-<n>" if neither it nor the session has one.
            transient: see `interop.catalogue`.

        Raises:
            InputError: something is not usable, or a session of that id was seen before.
        """
        asked = self._update_asked(memory, session, tools, id, transient)
        if self._builder is None:
            return self._updated(asked, None)
        with self._settings(self._lm):
            return self._updated(asked, self._builder(*self._builder_inputs(asked)))

    async def aupdate(
        self,
        memory: AnyMemory,
        session: Any,
        tools: Any = None,
        *,
        id: str | None = None,
        transient: Transient | None = None,
    ) -> UserMemory:
        """See `update`."""
        asked = self._update_asked(memory, session, tools, id, transient)
        if self._builder is None:
            return self._updated(asked, None)
        with self._settings(self._lm):
            # its LM calls depend on each other, so a thread loses nothing; DSPy carries these settings into it
            update = await dspy.asyncify(self._builder)(*self._builder_inputs(asked))
        return self._updated(asked, update)

    def updater(self, tools: Any, transient: Transient | None = None) -> Callable[..., MemoryUpdate]:
        """`(memory, sessions) -> MemoryUpdate` for a `PreferenceStore`, which keeps memory and sessions itself.

        Raises:
            InputError: the program has no memory to update.
        """
        known = catalogue(tools, transient)
        builder = self._builder
        if builder is None:
            raise InputError(f"{type(self.program).__name__} keeps no hypothesis: load a PRefine program")

        def update(memory: Memory, sessions: Sequence[Session]) -> MemoryUpdate:
            calls = [call for session in sessions for call in session.calls]
            with self._settings(self._lm):
                changed: MemoryUpdate = builder(memory, sessions, covering(known, calls) or known)
            return changed

        return update

    def _update_asked(
        self, memory: AnyMemory, session: Any, tools: Any, id: str | None, transient: Transient | None
    ) -> _Update:
        before = as_user_memory(memory)
        new = to_session(session, id or f"session-{before.seen + 1}")
        new = new if id is None else new.model_copy(update={"id": id})
        if any(new.id == one.id for one in before.record) or new.id in before.memory.sessions:
            raise InputError(f"a session with the id {new.id!r} was seen before: give this one its own, id='...'")
        sessions = (*before.record, new)
        calls = [call for one in sessions for call in one.calls]
        known = covering(None if tools is None else catalogue(tools, transient), calls)
        return _Update(before, sessions, known or _NO_TOOLS)

    def _builder_inputs(self, asked: _Update) -> tuple[Memory, tuple[Session, ...], Catalogue]:
        return asked.before.memory, asked.sessions, asked.tools

    def _updated(self, asked: _Update, update: MemoryUpdate | None) -> UserMemory:
        before, session = asked.before, asked.sessions[-1]
        if update is None:
            seen = before.memory.model_copy(update={"sessions": (*before.memory.sessions, session.id)})
            update = MemoryUpdate(memory=seen)
        return before.after(session, update.memory, update.accepted, asked.tools, self.keeps_dialogue)

    def _settings(self, lm: dspy.BaseLM) -> AbstractContextManager[Any]:
        """This call's own settings. No history and no trace: both keep prompts."""
        settings: AbstractContextManager[Any] = dspy.context(lm=lm, disable_history=True, trace=None)
        return settings


# A session without a single call says nothing about tools, but a catalogue is never empty.
_NO_TOOLS = catalogue([{"name": "none"}])


def load(
    program: str | Path | dspy.Module,
    lm: str | dspy.BaseLM = "local",
    *,
    confidence: bool = True,
    cache: bool = False,
    **options: Any,
) -> Agent:
    """A program as an `Agent`.

    Args:
        program: the name of a shipped program ("prefine-mpt"), the folder of a compiled one, or a module (`PRefine()`).
        lm: a name ("local", "openai/gpt-5-mini"; see `prefine_dspy.lm.resolve`) or any dspy.LM.
        confidence: ask for log-probabilities where the LM offers them.
        cache: keep prompts and answers in DSPy's cache; off, as they hold what is known of a user.
        options: for the program's constructor, over those it was compiled with (K=3).

    Raises:
        InputError: unknown program, option or LM, or a program that does not fit this version.
    """
    manifest = None
    if not isinstance(program, dspy.Module):
        from prefine_dspy.artifact import load_program

        program, manifest = load_program(program, **options)
    elif options:
        raise InputError(f"options go to the module's constructor: {type(program).__name__}({', '.join(options)}=...)")
    if isinstance(lm, str):
        from prefine_dspy.lm import resolve

        lm = resolve(lm)
    if not isinstance(lm, dspy.BaseLM):
        raise InputError(f"lm must be a name like 'local' or a dspy.LM, not {type(lm).__name__}")
    return Agent(program, lm, manifest=manifest, confidence=confidence, cache=cache)


def as_user_memory(memory: AnyMemory) -> UserMemory:
    """What a caller may give as memory, as one type."""
    if isinstance(memory, UserMemory):
        return memory
    if memory is None:
        return UserMemory()
    if isinstance(memory, Memory):
        return UserMemory.of(memory)
    if isinstance(memory, str):
        return UserMemory(memory=Memory(text=memory, version=1)) if memory.strip() else UserMemory()
    raise InputError(f"memory is what update() returned, or None to begin, not {type(memory).__name__}")
