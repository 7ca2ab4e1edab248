"""Tags of instructions from a file, for Ext-Tag with gold tags or with those of a stronger LM."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

from prefine_dspy.errors import InputError
from prefine_dspy.tagging import fit, parse_tags, render_tags


@lru_cache(maxsize=8)
def angle_tags(path: str) -> dict[str, str]:
    """Tags in angle form by instruction.

    Args:
        path: CSV with the columns `org` (the instruction) and `aug` (with tags, in either form). Tags that do not keep
            the instruction's words are left out: the tagger is asked for them.

    Raises:
        InputError: the file cannot be read or has no such columns.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read the tags in {path}: {getattr(error, 'strerror', None) or error}") from None
    if not rows or not {"org", "aug"} <= rows[0].keys():
        raise InputError(f"{path} holds no tags: it needs the columns org and aug")
    found = {}
    for row in rows:
        instruction = row["org"] or ""
        fitted = fit(parse_tags(row["aug"] or "").tagged, instruction).tagged
        if fitted is not None:
            found[instruction] = render_tags(fitted)
    return found
