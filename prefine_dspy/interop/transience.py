"""Which arguments say what is done this once? Foreign tools do not tell.

The guess is conservative: a lasting argument taken for a transient one is never learnt; a date taken for a lasting one
is noise in the record, and could be filled in from a past session. So only what is named or typed as a moment, an
identifier or an end of a journey counts. `transient={"tool": ["argument"]}` overrides it (`catalogue`).
"""

from __future__ import annotations

import re
from typing import Any

_MOMENTS = frozenset("date dates time datetime timestamp day today deadline weekday checkin checkout when".split())
_ENDS = frozenset("origin destination".split())
_IDENTIFIERS = frozenset("id ids uuid".split())
_PLACES = frozenset("location city airport station place address".split())
_DIRECTIONS = frozenset("departure arrival pickup dropoff from to start end".split())
# "time zone", "time format", "day rate": kinds of time that last; so do birthdays
_LASTING = frozenset("zone format unit birth birthday rate preferred preference type window range".split())
_MOMENT_TEXT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?|\d\d?:\d\d(:\d\d)?( ?[ap]m)?", re.IGNORECASE)


def is_transient(name: str, schema: dict[str, Any]) -> bool:
    """Whether an argument says what is done this once, by its format and its name.

    Args:
        name: "check_in_date", "departureTime", ...
        schema: its JSON schema.
    """
    if schema.get("format") in ("date", "date-time", "time"):
        return not words(name) & _LASTING
    found = words(name)
    if found & _LASTING or schema.get("type") == "boolean" or schema.get("enum"):
        return False
    if found & _IDENTIFIERS:
        return True
    if schema.get("type") in ("integer", "number"):
        return False  # a number called "time" is a duration
    return bool(found & (_MOMENTS | _ENDS)) or bool(found & _PLACES and found & _DIRECTIONS)


def is_moment(value: Any) -> bool:
    """Whether a value is a date or a time, whatever its argument is called."""
    return isinstance(value, str) and _MOMENT_TEXT.fullmatch(value.strip()) is not None


def words(name: str) -> set[str]:
    """The words of a name in snake, kebab or camel case."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+", apart.casefold()))
