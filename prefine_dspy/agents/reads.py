"""Which tools only read. Catalogues do not say it, so a name's first word has to."""

from __future__ import annotations

import re

_READING = frozenset(
    "get find search list look lookup check show read view fetch query browse retrieve calculate compute count compare "
    "estimate think is has describe verify".split()
)


def only_reads(tool: str) -> bool:
    """Whether a tool changes nothing, by its name: `get_booking`, `searchFlights`. When in doubt it does change."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", tool.rpartition(".")[2])
    return bool(words) and words[0].casefold() in _READING
