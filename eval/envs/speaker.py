"""An LM that plays a benchmark's user, or its judge.

The benchmarks ask their LM through a function of their own, which knows hosted LMs or a web address. Here that function
is replaced, where a benchmark is used, by one that asks the `dspy.LM` the caller named: a local one works, answers
are in the run's cache and count in its budget. The prompts stay the benchmark's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import dspy
from dspy import lm15

from prefine_dspy.errors import InputError

_SETTINGS = ("temperature", "max_tokens", "top_p")


class Speaker:
    """One LM in one trial.

    Args:
        lm: the LM.
        trial: answers of different trials are different answers (DSPy's `rollout_id`).
    """

    def __init__(self, lm: dspy.BaseLM, trial: int = 0) -> None:
        self.lm = lm
        self.trial = trial

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """The LM's answer to chat messages; "" when it gave no text."""
        plain = [{"role": one["role"], "content": one.get("content") or ""} for one in messages]
        # a Request carries its own settings: those that the LM was made with are not added to it
        settings = {key: self.lm.kwargs[key] for key in _SETTINGS if self.lm.kwargs.get(key) is not None}
        request = lm15.request_from_openai_chat({"model": self.lm.model, "messages": plain, **settings})
        response = self.lm(request, **({"rollout_id": self.trial} if self.trial else {}))
        return response.text or ""


_current: ContextVar[Speaker | None] = ContextVar("prefine_eval_speaker", default=None)


@contextmanager
def speaking(speaker: Speaker | None) -> Iterator[None]:
    """Whatever a benchmark asks its LM inside the block, this speaker answers; with None it is an error to ask."""
    token = _current.set(speaker)
    try:
        yield
    finally:
        _current.reset(token)


def current_speaker(who: str) -> Speaker:
    """The innermost block's speaker.

    Args:
        who: what it would play, for the message ("a user", "a judge").

    Raises:
        InputError: no LM was named.
    """
    speaker = _current.get()
    if speaker is None:
        raise InputError(f"this benchmark needs an LM that plays {who}: name it with --user-lm")
    return speaker
