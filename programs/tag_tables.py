"""Tags of instructions from a file, for Ext-Tag with gold tags or with those of a stronger LM."""

from __future__ import annotations

import csv
import hashlib
import io
from functools import lru_cache
from pathlib import Path
from typing import Any

from prefine_dspy.errors import InputError
from prefine_dspy.tagging import fit, parse_tags, render_tags


def angle_tags(path: Any) -> dict[str, str]:
    """Tags in angle form by instruction.

    Args:
        path: CSV with the columns `org` (the instruction) and `aug` (with tags, in either form). Tags that do not keep
            the instruction's words are left out: the tagger is asked for them. Of a repeated instruction the first row
            counts.

    Raises:
        InputError: the file cannot be read, has no such columns, or none of its rows can be used.
    """
    text = _text(path)
    try:
        found = _read(text)
    except csv.Error as error:
        raise InputError(f"cannot read the tags in {path}: {error}") from None
    if found is None:
        raise InputError(f"{path} holds no tags: it needs the columns org and aug")
    if not found:
        raise InputError(f"{path} holds no tags that keep their instruction's words: aug must be org with tags in it")
    return found


def table_of(tags: Any) -> dict[str, str] | None:
    """`angle_tags`, or None when no file is named."""
    return None if tags is None else angle_tags(tags)


def identity(path: Any) -> str:
    """A short hash over the content of a file of tags: another table under the same name is another program.

    Raises:
        InputError: the file cannot be read.
    """
    return hashlib.sha256(_text(path).encode("utf-8")).hexdigest()[:16]


def _text(path: Any) -> str:
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InputError(f"tags must be a CSV file with the columns org and aug, not {path!r}")
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the tags in {path}: {getattr(error, 'strerror', None) or error}") from None


@lru_cache(maxsize=8)
def _read(text: str) -> dict[str, str] | None:
    """By content, not by name: a file may change."""
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    if not rows or not {"org", "aug"} <= rows[0].keys():
        return None
    found: dict[str, str] = {}
    for row in rows:
        instruction = row["org"] or ""
        fitted = fit(parse_tags(row["aug"] or "").tagged, instruction).tagged
        if fitted is not None:
            found.setdefault(instruction, render_tags(fitted))
    return found
