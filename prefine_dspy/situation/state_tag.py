"""The `<state>` tag in an agent's answer: its content, and the answer without it."""

from __future__ import annotations

import re

_OPEN, _CLOSE = re.compile(r"<\s*state\b[^>]{0,80}>", re.IGNORECASE), re.compile(r"<\s*/\s*state\s*>", re.IGNORECASE)


def state_text(answer: str) -> str | None:
    """The content of the last tag; what follows it if it is never closed; None without a tag."""
    tags = list(_OPEN.finditer(answer))
    if not tags:
        return None
    opened = tags[-1]
    closed = _CLOSE.search(answer, opened.end())
    return unfenced(answer[opened.end() : closed.start() if closed else len(answer)])


def without_state(answer: str) -> str:
    """The answer without its state, for the user and the tools: no tag and no content of one is ever left in it."""
    while True:  # what is taken out may have parted another tag
        while (opened := _OPEN.search(answer)) is not None:
            closed = _CLOSE.search(answer, opened.end())
            before, after = answer[: opened.start()], answer[closed.end() :] if closed else ""
            answer = (before.rstrip() + "\n" + after.lstrip()) if before.strip() and after.strip() else before + after
        if _CLOSE.search(answer) is None:
            return answer.strip()
        answer = _CLOSE.sub("", answer)


def unfenced(text: str) -> str:
    """The text without a code fence around it; its indentation stays, which means something in YAML."""
    inner = text.strip()
    if inner.startswith("```"):
        text = inner.partition("\n")[2] if "\n" in inner else inner.lstrip("`")
        inner = text.strip()
    return (text.rstrip().removesuffix("```") if inner.endswith("```") else text).strip("\r\n")
