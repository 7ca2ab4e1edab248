"""`key: value` lines: several a line (`city: Bonn, weather: sunny`) are a record, one a line make one together."""

from __future__ import annotations

import re
from typing import Any

_PAIR_START = re.compile(r"(?:^|[,;]\s{1,9})([^\W\d_][\w \-/]{0,40}):\s")
_LONGEST = 2_000
"""Characters of a line; a longer one is prose."""


def key_value_lines(text: str) -> list[dict[str, Any]] | None:
    """The records of a text that is nothing but such lines; None for any other text.

    Values stay text: nothing says that "08:00" or "0049" is a number. One pair alone is a sentence, not a record.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or any(len(line) > _LONGEST for line in lines):
        return None
    found = [_pairs(line) for line in lines]
    if all(len(pairs) > 1 for pairs in found):
        records = [dict(pairs) for pairs in found]
        return records if all(len(one) == len(pairs) for one, pairs in zip(records, found, strict=True)) else None
    if len(found) > 1 and all(len(pairs) == 1 for pairs in found):
        record = dict(pairs[0] for pairs in found)
        return [record] if len(record) == len(found) else None
    return None


def _pairs(line: str) -> list[tuple[str, str]]:
    starts = list(_PAIR_START.finditer(line + " "))
    if not starts or starts[0].start():
        return []
    ends = [one.start() for one in starts[1:]] + [len(line)]
    return [(one[1].rstrip(), line[one.end() : end].strip()) for one, end in zip(starts, ends, strict=True)]
