"""The one dspy.LM behind every library: calls, tokens and errors are counted as those of any program."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import dspy
from dspy import lm15
from dspy.clients.backend_selection import CLIENT_KEYS

from prefine_dspy.errors import InputError
from programs.memory_backends.account import Account

ANSWER_TOKENS = 1_024
# they belong to the LM's connection or to DSPy, not to the request
_NOT_OF_A_REQUEST = CLIENT_KEYS | {"n", "rollout_id", "num_generations", "prompt_cache"}

Message = dict[str, Any]


class LibraryLM:
    """The LM of the surrounding `dspy.context`, as one library asks it in one update.

    It belongs to the context it was made in, whatever thread the library asks from: there the run counts and journals
    its calls.
    """

    def __init__(self, account: Account) -> None:
        self._account = account
        self._context = contextvars.copy_context()
        self._lm = dspy.settings.lm

    def ask(self, messages: list[Message], schema: dict[str, Any] | None, usable: Callable[[str], bool] = bool) -> str:
        """The LM's answer to chat messages.

        Args:
            messages: {"role": ..., "content": text}.
            schema: JSON schema of the answer, to which an LM is held that can be; None for free text.
            usable: whether the library will be able to read an answer.

        Raises:
            Exception: whatever the LM raises; it is kept for `Account.raise_lost`, and no further call is made.
        """
        self._account.raise_lost()
        try:
            if self._lm is None:
                raise InputError("a memory library asks an LM: wrap the call in dspy.context(lm=...)")
            answer: str = self._context.copy().run(self._answer, messages, schema)
        except Exception as error:
            self._account.error = error
            raise
        self._account.reply(answer, usable(answer), self._lm.model)
        return answer

    def _answer(self, messages: list[Message], schema: dict[str, Any] | None) -> str:
        response: lm15.Response = self._lm(_request(self._lm, messages, schema))
        return response.text or ""


def _request(lm: dspy.BaseLM, messages: list[Message], schema: dict[str, Any] | None) -> lm15.Request:
    """A request with the LM's own settings, but for the length of its answer: libraries ask for JSON documents, of
    which the first half is worth nothing."""
    body = {key: value for key, value in lm.kwargs.items() if key not in _NOT_OF_A_REQUEST and value is not None}
    if isinstance(body.get("max_tokens"), int):
        body["max_tokens"] = max(body["max_tokens"], ANSWER_TOKENS)
    if schema is not None and "response_format" in lm.supported_params:
        body["response_format"] = {"type": "json_object"}
        if lm.supports_response_schema:
            # not strict: that is a dialect of schemas, which those of libraries are not written in
            form = {"name": "answer", "schema": schema, "strict": False}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
    return lm15.request_from_openai_chat({"model": lm.model, "messages": messages, **body})
