"""Tags of instructions from a file, as TAPS ships them: a CSV of `org` (the instruction) and `aug` (it, with tags).

Three readers want different things of the same rows: gold tags and scores the text as it stands (`load_tags`), whoever
works on tags those that keep their instruction's words (`fitting_tags`), an interpreter these in angle form
(`angle_tags`), for Ext-Tag with gold tags or with those of a stronger LM.
"""

from __future__ import annotations

import csv
import hashlib
import io
from functools import lru_cache
from pathlib import Path
from typing import Any

from prefine_dspy.errors import InputError
from prefine_dspy.tagging import Tagged, fit, parse_tags, render_tags

COLUMNS = ("org", "aug")


def load_tags(path: Any) -> dict[str, str]:
    """Tagged instruction by instruction; the text as it stands in the file, in either form.

    Args:
        path: a CSV with the columns org and aug (others are ignored). Of a repeated instruction the first row counts.

    Raises:
        InputError: it cannot be read, a column is missing, or a row has no tags; names the file and line.
    """
    return _rows(_text(path), str(path))


def fitting_tags(path: Any) -> dict[str, Tagged]:
    """The tags that keep their instruction's words, by instruction; names are as written, whatever a catalogue says.

    Args:
        path: see `load_tags`.

    Raises:
        InputError: as `load_tags`, or none of the rows can be used.
    """
    found = _fitting(_text(path), str(path))
    if not found:
        raise InputError(f"{path} holds no tags that keep their instruction's words: aug must be org with tags in it")
    return found


def angle_tags(path: Any) -> dict[str, str]:
    """`fitting_tags` in angle form; a tagger is asked for instructions that are not among them."""
    return {instruction: render_tags(tagged) for instruction, tagged in fitting_tags(path).items()}


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


def _rows(text: str, name: str) -> dict[str, str]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    tags: dict[str, str] = {}
    try:
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise InputError(f"{name}: no column {missing[0]!r}: tags need the columns org and aug in the first line")
        for row in rows:
            instruction, tagged = row["org"], row["aug"]
            if not instruction or not tagged:
                raise InputError(f"{name}:{rows.line_num}: a row needs an instruction (org) and its tags (aug)")
            tags.setdefault(instruction, tagged)
    except csv.Error as error:
        raise InputError(f"{name}:{rows.line_num}: not CSV: {error}") from None
    return tags


@lru_cache(maxsize=8)
def _fitting(text: str, name: str) -> dict[str, Tagged]:
    """By content, not by name alone: a file may change."""
    found = {row: fit(parse_tags(written).tagged, row).tagged for row, written in _rows(text, name).items()}
    return {instruction: tagged for instruction, tagged in found.items() if tagged is not None}
