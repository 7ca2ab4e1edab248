"""llama.cpp inside this process as a DSPy 3.4 engine: `dspy.LM(..., engine=LlamaCppEngine(path))`.

One `xllamacpp.Server` (llama.cpp's server core: continuous batching, prompt cache, grammars, log-probabilities) serves
all threads. The engine makes one attempt a request; cache, retries, history and usage are DSPy's.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from dspy import lm15

from prefine_dspy.errors import MissingExtra, PrefineError
from prefine_dspy.lm import loopback, storage, tool_calls
from prefine_dspy.lm.request_body import chat_body

PROMPT_CACHE_MIB = 2_048
_SUPPORTED = (
    "temperature top_p top_k max_tokens stop seed response_format logprobs top_logprobs tools tool_choice "
    "frequency_penalty presence_penalty logit_bias"
)


class UnreadableModel(lm15.ConfigurationError, PrefineError):
    """llama.cpp cannot load the model file; DSPy's LMConfigurationError, which no retry and no other request helps."""


class LlamaCppEngine:
    """A GGUF model in this process.

    Args:
        path: the model file; loaded at the first request.
        context: tokens of context that each request may use, prompt and answer together.
        slots: requests decoded at once; each keeps a prompt prefix warm.
        threads: CPU threads; None means all cores this process may use.

    Attributes:
        key: what requests to the server's loopback address carry; empty before the model is loaded.
    """

    supports_function_calling = True
    supports_response_schema = True
    supports_reasoning = False
    supported_params = frozenset(_SUPPORTED.split())

    def __init__(self, path: Path | str, context: int = 16_384, slots: int = 2, threads: int | None = None) -> None:
        self.path = Path(path)
        self.context = context
        self.slots = slots
        self.threads = threads or _usable_cores()
        self._server: Any = None
        self.key = ""
        self._lock = threading.Lock()

    # -- engine contract

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer one request.

        Raises:
            lm15.ContextLengthError: prompt and answer do not fit; DSPy's ContextWindowExceededError.
            lm15.UnsupportedFeatureError: something llama.cpp cannot do was asked for, or the grammar was not applied.
            lm15.InvalidRequestError: anything else that the server refused.
            UnreadableModel: the model file cannot be loaded.
        """
        plain, holds_calls = tool_calls.as_schema(request)
        body = chat_body(plain)
        server = self.server()
        try:
            answer = server.handle_chat_completions(body)
        except (ValueError, RuntimeError) as error:
            raise lm15.InvalidRequestError(f"llama.cpp refused the request: {error}") from error
        if isinstance(answer, bytes | str):
            answer = json.loads(answer)
        raise_on_error(answer)
        answer["model"] = self.path.name  # the server reports the file's path, which is nobody else's business
        response = lm15.response_from_openai_chat(answer, model=request.model)
        if "grammar" in body:
            _check_grammar_was_applied(response)
        return tool_calls.from_answer(response) if holds_calls else response

    def stream(self, request: lm15.Request) -> Iterator[Any]:
        """The whole answer as one burst of events."""
        return iter(lm15.response_to_events(self.complete(request)))

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer, as it stands inside a prompt; nothing is decoded."""
        return loopback.count_tokens(self.server().listening_address, self.key, text)

    def dump_state(self) -> dict[str, Any]:
        """What is needed to find the same model on another machine: no path, no secret."""
        return {"file": self.path.name, "context": self.context, "slots": self.slots}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> LlamaCppEngine:
        """The engine of a dumped state; the file is looked for in the models folder."""
        return cls(storage.locate(state["file"]), context=state["context"], slots=state["slots"])

    def __deepcopy__(self, memo: dict[int, Any]) -> LlamaCppEngine:
        return self  # programs are copied all the time; the model must not be

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).load_state, (self.dump_state(),)

    # -- life of the model

    def server(self) -> Any:
        """The loaded server; loads it at the first use."""
        with self._lock:
            if self._server is None:
                self._server = self._load()
            return self._server

    def close(self) -> None:
        """Free the model. The next request loads it again."""
        with self._lock:
            self._server = None

    def _load(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise MissingExtra("the local LM", "local") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = self.context * self.slots  # llama.cpp divides its context among the slots
        params.n_parallel = self.slots
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.threads
        params.cache_ram_mib = PROMPT_CACHE_MIB
        params.verbosity = -1
        # The server core also opens a port on the loopback address: without these, any local process could use the
        # model or read prompts from its slots.
        self.key = secrets.token_hex(16)
        params.api_keys = [self.key]
        params.endpoint_slots = params.endpoint_metrics = params.endpoint_props = False
        try:
            return xllamacpp.Server(params)
        except (RuntimeError, ValueError, MemoryError) as error:
            reason = " ".join(str(error).split())
            raise UnreadableModel(
                f"llama.cpp cannot load {self.path} ({reason}): the file is damaged, of a kind it does not know, or "
                "too big for the memory; delete it and fetch it again: python -m prefine_dspy.lm pull"
            ) from error


class AsyncLlamaCppEngine:
    """The same model for DSPy's async path; the work runs in a thread.

    Args:
        engine: the sync engine, shared.
    """

    def __init__(self, engine: LlamaCppEngine) -> None:
        self.engine = engine

    supports_function_calling = LlamaCppEngine.supports_function_calling
    supports_response_schema = LlamaCppEngine.supports_response_schema
    supports_reasoning = LlamaCppEngine.supports_reasoning
    supported_params = LlamaCppEngine.supported_params

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """See `LlamaCppEngine.complete`."""
        return await asyncio.to_thread(self.engine.complete, request)

    async def stream(self, request: lm15.Request) -> AsyncIterator[Any]:
        """See `LlamaCppEngine.stream`."""
        for event in lm15.response_to_events(await self.complete(request)):
            yield event

    async def aclose(self) -> None:
        """Nothing to close: the sync engine owns the model."""

    def dump_state(self) -> dict[str, Any]:
        """See `LlamaCppEngine.dump_state`."""
        return self.engine.dump_state()

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> AsyncLlamaCppEngine:
        """See `LlamaCppEngine.load_state`."""
        return cls(LlamaCppEngine.load_state(state))

    def __deepcopy__(self, memo: dict[int, Any]) -> AsyncLlamaCppEngine:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).load_state, (self.dump_state(),)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def raise_on_error(answer: dict[str, Any]) -> None:
    """Raise what a server's answer says went wrong, if anything did.

    Raises:
        lm15.ContextLengthError, lm15.InvalidRequestError
    """
    error = answer.get("error")
    if error is None:
        return
    message = str(error.get("message", error)) if isinstance(error, dict) else str(error)
    if isinstance(error, dict) and error.get("type") == "exceed_context_size_error":
        raise lm15.ContextLengthError(message)
    raise lm15.InvalidRequestError(f"llama.cpp refused the request: {message}")


def _check_grammar_was_applied(response: lm15.Response) -> None:
    """llama.cpp fails open: with a grammar it cannot read it answers free text. A finished answer must be JSON."""
    if response.finish_reason != "stop":
        return
    try:
        json.loads(response.text or "")
    except ValueError:
        raise lm15.UnsupportedFeatureError(
            "llama.cpp did not apply the schema of this request (it answered free text)", feature="response_format"
        ) from None
