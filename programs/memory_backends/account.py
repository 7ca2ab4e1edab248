"""What happened inside a library while it did one thing, so that nothing of it stays silent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

TokenCounter = Callable[[str], int]
LONGEST_REPLY = 2_000  # characters of an unusable reply that are kept


def estimated_tokens(text: str) -> int:
    """A quarter of the characters, rounded up: the count where no tokenizer is given."""
    return -(-len(text) // 4)


class Account:
    """Counts of one update, or of one retrieval.

    Args:
        count: tokens of a text.

    Attributes:
        lm_calls: answers that the library asked of the LM and got.
        lm: the model string of the LM that gave them; None without any.
        unparsed: answers that the library could not use as its own format asks.
        failed: errors that the library raised or logged on its way and that are not the LM's: what it was about to
            write may be missing.
        embedded_texts, embedding_tokens: what the library asked the embedding model for; reopening a store is free.
        replies: one JSON object for each unusable answer and each failure, in order.
        error: the first exception of the LM or the embedding model. A library may swallow it; an update that met one
            did not happen.
    """

    def __init__(self, count: TokenCounter = estimated_tokens) -> None:
        self.count = count
        self.lm_calls = 0
        self.lm: str | None = None
        self.unparsed = 0
        self.failed = 0
        self.embedded_texts = 0
        self.embedding_tokens = 0
        self.replies: list[dict[str, Any]] = []
        self.error: Exception | None = None
        self._free = 0

    def reply(self, text: str, usable: bool, lm: str) -> None:
        """Take note of one answer of an LM."""
        self.lm_calls += 1
        self.lm = lm
        if not usable:
            self.unparsed += 1
            self.replies.append({"stage": "reply", "unparsed": text[:LONGEST_REPLY]})

    def failure(self, message: str) -> None:
        """Take note of an error that the library went on from."""
        self.failed += 1
        self.replies.append({"stage": "failure", "message": " ".join(message.split())[:500]})

    def embedded(self, texts: Sequence[str]) -> None:
        """Take note of texts that the library had embedded."""
        if not self._free:
            self.embedded_texts += len(texts)
            self.embedding_tokens += sum(self.count(text) for text in texts)

    @contextmanager
    def reopening(self) -> Iterator[None]:
        """Embeddings inside the block were paid for when the memory was made: they are not counted again."""
        self._free += 1
        try:
            yield
        finally:
            self._free -= 1

    @contextmanager
    def listening(self, *loggers: str) -> Iterator[None]:
        """Errors that the library logs inside the block, in this context, are failures."""
        token = _listener.set(self)
        handler = _Handler()
        heard = [logging.getLogger(name) for name in loggers]
        for one in heard:
            one.addHandler(handler)
        try:
            yield
        finally:
            for one in heard:
                one.removeHandler(handler)
            _listener.reset(token)

    def raise_lost(self) -> None:
        """Raise the LM's or the embedding model's exception that the library may have swallowed."""
        if self.error is not None:
            raise self.error

    def as_json(self) -> dict[str, Any]:
        """The counts."""
        names = ("lm_calls", "unparsed", "failed", "embedded_texts", "embedding_tokens")
        return {name: getattr(self, name) for name in names}


_listener: ContextVar[Account | None] = ContextVar("prefine_memory_account", default=None)


class _Handler(logging.Handler):
    """Hands errors to the account of the context that logged them: updates of other users run beside this one."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self._owner = _listener.get()

    def emit(self, record: logging.LogRecord) -> None:
        account = _listener.get()
        if account is not None and account is self._owner and account.error is None:
            account.failure(record.getMessage())
