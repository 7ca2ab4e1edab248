"""Gold tags of instructions: a CSV of `org` (the instruction) and `aug` (its words with tags), as TAPS ships them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from eval.data.files import read_text
from prefine_dspy.errors import InputError

COLUMNS = ("org", "aug")


def load_tags(path: str | Path) -> dict[str, str]:
    """Tagged instruction by instruction; the text as it stands in the file, tags in bracket form.

    Args:
        path: a CSV with the columns org and aug (others are ignored). Of a repeated instruction the first row counts.

    Raises:
        InputError: it cannot be read, a column is missing, or a row has no tags; names the file and line.
    """
    file = Path(path)
    rows = csv.DictReader(io.StringIO(read_text(file), newline=""))
    tags: dict[str, str] = {}
    try:
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise InputError(f"{file}: no column {missing[0]!r}: the first line must be org,aug")
        for row in rows:
            instruction, tagged = row["org"], row["aug"]
            if not instruction or not tagged:
                raise InputError(f"{file}:{rows.line_num}: a row needs an instruction (org) and its tags (aug)")
            tags.setdefault(instruction, tagged)
    except csv.Error as error:
        raise InputError(f"{file}:{rows.line_num}: not CSV: {error}") from None
    return tags
