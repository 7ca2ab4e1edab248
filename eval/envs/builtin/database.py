"""The airline's database: plain JSON values, so that its hash says whether two attempts led to the same world."""

from __future__ import annotations

import copy
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
Database = dict[str, Any]

NOW = "2031-05-12T09:00"
"""The time of all tasks, as policy.md states it; flights and bookings are set around it."""


def fresh_database() -> Database:
    """The database at the start of every task; the caller's own to change."""
    return copy.deepcopy(_stored())


@cache
def _stored() -> Database:
    return json.loads((FOLDER / "world.json").read_text(encoding="utf-8"))


def database_hash(database: Database) -> str:
    """sha256 over the canonical JSON text: equal for equal content, however it came about."""
    text = json.dumps(database, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
