"""What LM calls a side of an episode used, told apart by when they were made and who made them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from eval.envs.episode import LmUsage
from eval.usage import Usage, current_usage


def used() -> LmUsage | None:
    """What the unit of work has used so far; None when nobody measures."""
    usage: Usage | None = current_usage()
    if usage is None:
        return None
    return LmUsage(
        lm_calls=usage.lm_calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        lm_seconds=usage.lm_seconds,
    )


def spent(before: LmUsage | None, after: LmUsage | None) -> LmUsage | None:
    """What was used in between; None when nobody measured."""
    if before is None or after is None:
        return None
    return LmUsage(
        lm_calls=after.lm_calls - before.lm_calls,
        input_tokens=after.input_tokens - before.input_tokens,
        output_tokens=after.output_tokens - before.output_tokens,
        lm_seconds=max(0.0, math.fsum((after.lm_seconds, -before.lm_seconds))),
    )


def together(parts: Iterable[LmUsage | None]) -> LmUsage:
    """The sum of what was measured."""
    known = [one for one in parts if one is not None]
    return LmUsage(
        lm_calls=sum(one.lm_calls for one in known),
        input_tokens=sum(one.input_tokens for one in known),
        output_tokens=sum(one.output_tokens for one in known),
        lm_seconds=math.fsum(one.lm_seconds for one in known),
    )


_judged: ContextVar[list[LmUsage] | None] = ContextVar("prefine_eval_judged", default=None)


@contextmanager
def judging() -> Iterator[list[LmUsage]]:
    """What `judged_by` books inside the block stands in this list."""
    booked: list[LmUsage] = []
    token = _judged.set(booked)
    try:
        yield booked
    finally:
        _judged.reset(token)


def judged_by(usage: LmUsage | None) -> None:
    """Book what a judge used; does nothing when nobody measures."""
    booked = _judged.get()
    if booked is not None and usage is not None:
        booked.append(usage)
