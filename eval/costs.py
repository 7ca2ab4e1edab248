"""What memories and answers cost: tokens, LM calls, seconds, money (the paper's Table 15 and Figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Record = dict[str, Any]


def cost(items: Sequence[Record], updates: Sequence[Record]) -> dict[str, Any]:
    """The cost table's row of one program; None where there is nothing to measure.

    Tokens, calls and seconds are those of all answers a program needed, answered from the run's cache or not, so
    that they do not depend on kills or on what other programs of the run asked before. `cached_calls` says how many
    were not paid again.
    """
    lines = [*items, *updates]
    costs = [one["usage"]["cost"] for one in lines if one["usage"]["cost"] is not None]
    read = _total(lines, "input_tokens")
    return {
        "sessions": len(updates) or None,
        **{f"{name}_per_session": _mean(updates, name) for name in _PER_UNIT},
        "evaluated_tokens_per_session": _evaluated(updates),
        "accepted_share": sum(one["accepted"] for one in updates) / len(updates) if updates else None,
        "update_parse_failures": sum(one["parse_failures"] for one in updates) if updates else None,
        **_written(updates),
        "update_lm_errors": sum(one["status"] == "lm_error" for one in updates) if updates else None,
        "memory_tokens_per_item": sum(one.get("memory_tokens", 0) for one in items) / len(items) if items else None,
        **{f"{name}_per_item": _mean(items, name) for name in _PER_UNIT},
        "evaluated_tokens_per_item": _evaluated(items),
        "prefix_cached_share": _total(lines, "cache_read_tokens") / read if read else None,
        "lm_calls": _total(lines, "lm_calls"),
        "cached_calls": _total(lines, "cached_calls"),
        "failed_calls": _total(lines, "failed_calls"),
        "unreported_calls": _total(lines, "unreported_calls"),
        "cost": sum(costs) if costs else None,
    }


def answer_cost(items: Sequence[Record]) -> Record:
    """`cost` for benchmarks without memories, LMs that play users and judges included, with the seconds an item."""
    row = cost(items, [])
    del row["memory_tokens_per_item"]
    return {
        **{name: value for name, value in row.items() if value is not None},
        "seconds_per_item": sum(one["seconds"] for one in items) / len(items),
    }


_PER_UNIT = ("input_tokens", "output_tokens", "lm_calls", "lm_seconds")


def _written(updates: Sequence[Record]) -> dict[str, int | float | None]:
    """What memory libraries say of their updates: entries written a session, texts embedded for them, and what went
    wrong without an exception. None for systems that keep no such books."""
    books = [
        one["attempts"][-1] for one in updates if one.get("attempts") and one["attempts"][-1].get("stage") == "write"
    ]
    if not books:
        return dict.fromkeys(("written_per_session", "embedding_tokens_per_session", "library_failures"))
    return {
        "written_per_session": sum(one["written"] for one in books) / len(books),
        "embedding_tokens_per_session": sum(one["embedding_tokens"] for one in books) / len(books),
        "library_failures": sum(one["failed"] for one in books),
    }


def over_sessions(updates: Sequence[Record], key: str) -> list[float]:
    """The mean of "memory_tokens" or "accepted" after the first, second, ... session of a history."""
    last = max((one["session"] for one in updates), default=0)
    columns = [[float(one[key]) for one in updates if one["session"] == at] for at in range(1, last + 1)]
    return [sum(column) / len(column) for column in columns if column]


def _total(lines: Sequence[Record], name: str) -> float:
    return sum(one["usage"][name] for one in lines)


def _evaluated(lines: Sequence[Record]) -> float | None:
    """Tokens that an LM had to compute a line: read anew or written; those in its prefix cache are not."""
    if not lines:
        return None
    new = _total(lines, "input_tokens") - _total(lines, "cache_read_tokens") + _total(lines, "output_tokens")
    return new / len(lines)


def _mean(lines: Sequence[Record], name: str) -> float | None:
    return _total(lines, name) / len(lines) if lines else None
