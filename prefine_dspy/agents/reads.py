"""Which tools only read. Catalogues do not say it, so a name's first word has to."""

from __future__ import annotations

import re

_READING = frozenset(
    "get find search list look lookup check show read view fetch query browse retrieve calculate compute count compare "
    "estimate think is has describe verify".split()
)
_CHANGING = frozenset({("check", "in"), ("check", "out")})


def only_reads(tool: str) -> bool:
    """Whether a tool changes nothing, by its name: `get_booking`, `searchFlights`. When in doubt it does change."""
    found = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", tool.rpartition(".")[2])
    words = [word.casefold() for word in found]
    if not words or words[0] not in _READING or "and" in words:  # find_and_book does more than find
        return False
    return tuple(words[:2]) not in _CHANGING
