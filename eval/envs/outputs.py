"""Whether an agent said what a task requires."""

from __future__ import annotations

from collections.abc import Sequence


def said_outputs(outputs: Sequence[str], said: Sequence[str]) -> bool:
    """Each output stands in one of the messages; case and thousands separators do not matter (tau-bench's rule)."""
    texts = [text.lower().replace(",", "") for text in said]
    return all(any(output.lower() in text for text in texts) for output in outputs)
