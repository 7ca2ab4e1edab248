"""An LM that plays a benchmark's user, or its judge.

The benchmarks ask their LM through a function of their own, which knows hosted LMs or a web address. Here that function
is led, while an episode is under way, to the `dspy.LM` that the caller named: a local one works, answers are in the
run's cache and count in its budget. The prompts stay the benchmark's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, Literal

import dspy
from dspy import lm15

from eval.envs.spent import judged_by, spent, used
from prefine_dspy.errors import InputError

_SETTINGS = ("temperature", "max_tokens", "top_p")


class Speaker:
    """One LM in one trial.

    Args:
        lm: the LM.
        trial: answers of different trials are different answers (DSPy's `rollout_id`).
        role: whom it plays; what a judge uses is booked apart.
    """

    def __init__(self, lm: dspy.BaseLM, trial: int = 0, role: Literal["user", "judge"] = "user") -> None:
        self.lm = lm
        self.trial = trial
        self.role = role

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """The LM's answer to chat messages; "" when it gave no text."""
        plain = [{"role": one["role"], "content": one.get("content") or ""} for one in messages]
        # a Request carries its own settings: those that the LM was made with are not added to it
        settings = {key: self.lm.kwargs[key] for key in _SETTINGS if self.lm.kwargs.get(key) is not None}
        request = lm15.request_from_openai_chat({"model": self.lm.model, "messages": plain, **settings})
        before = used()
        response = self.lm(request, **({"rollout_id": self.trial} if self.trial else {}))
        if self.role == "judge":
            judged_by(spent(before, used()))
        return response.text or ""


_current: ContextVar[Speaker | None] = ContextVar("prefine_eval_speaker", default=None)


@contextmanager
def speaking(speaker: Speaker | None) -> Iterator[None]:
    """Whatever a benchmark asks its LM inside the block, this speaker answers; with None nobody does."""
    token = _current.set(speaker)
    try:
        yield
    finally:
        _current.reset(token)


def required(lm: dspy.BaseLM | None, who: str) -> dspy.BaseLM:
    """The LM that was named.

    Args:
        who: what it would play, for the message ("a user", "a judge").

    Raises:
        InputError: none was.
    """
    if lm is None:
        raise InputError(f"this benchmark needs an LM that plays {who}: name it with --user-lm")
    return lm


def lead_to_speaker(module: ModuleType, function: str, answer: Callable[..., Any]) -> None:
    """Let a benchmark's function that asks an LM ask the speaker instead; outside of `speaking` it does what it did.

    Args:
        module: where the benchmark looks the function up.
        function: its name there.
        answer: called with the speaker and the function's own arguments; returns what the function would.
    """
    original = getattr(module, function)
    if getattr(original, "leads_to_speaker", False):
        return

    def led(*arguments: Any, **named: Any) -> Any:
        speaker = _current.get()
        return original(*arguments, **named) if speaker is None else answer(speaker, *arguments, **named)

    led.leads_to_speaker = True  # type: ignore[attr-defined]
    setattr(module, function, led)


def current_speaker() -> Speaker:
    """The innermost block's speaker.

    Raises:
        RuntimeError: outside of one.
    """
    speaker = _current.get()
    if speaker is None:
        raise RuntimeError("nobody speaks here: ask inside `with speaking(...)`")
    return speaker
