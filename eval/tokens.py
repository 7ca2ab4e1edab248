"""How many tokens a text is, and by whose count."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import dspy

TokenCounter = Callable[[str], int]


class Counting(NamedTuple):
    """Args:
    count: tokens of a text.
    method: whose count it is: "<model>" for a local model's own tokenizer, "cl100k_base" (tiktoken, when its file is
        on this machine), or "characters/4", an estimate.
    """

    count: TokenCounter
    method: str


def counting(lm: dspy.BaseLM) -> Counting:
    """The best count there is without downloading anything: the LM's own, tiktoken's, an estimate."""
    own = getattr(getattr(lm, "engine", None), "count_tokens", None)
    if callable(own):
        return Counting(_remember(own), lm.model)
    if encode := _tiktoken():
        return Counting(_remember(lambda text: len(encode(text))), "cl100k_base")
    return Counting(lambda text: -(-len(text) // 4), "characters/4")


def _remember(count: TokenCounter) -> TokenCounter:
    @lru_cache(maxsize=4096)
    def remembered(text: str) -> int:
        return count(text) if text else 0

    return remembered


def _tiktoken() -> Callable[[str], list[int]] | None:
    """tiktoken's encoder if its file is cached; it is fetched from the network otherwise, which is never done here."""
    try:
        import tiktoken
        from tiktoken import load
    except ImportError:
        return None

    def refuse(blobpath: str) -> bytes:
        raise OSError(f"not downloaded: {blobpath}")

    fetch, load.read_file = load.read_file, refuse
    try:
        encoding = tiktoken.get_encoding("cl100k_base")
    except Exception:
        return None
    finally:
        load.read_file = fetch
    return lambda text: encoding.encode(text, disallowed_special=())
