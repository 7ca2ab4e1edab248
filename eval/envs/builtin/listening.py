"""What a scripted user hears in an agent's message: what it asks for, whether it wants a yes, says no, or is done.

Keywords, sentence by sentence. A statement asks for nothing, whatever it mentions: "your window seat is booked.
Anything else?" must not draw out the seat.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

SLOTS: dict[str, str] = {
    "email": r"e-?mail|customer (?:id|number)|account|identif\w*|who (?:am i|are you)|user id",
    "booking": r"booking (?:id|number|code|reference)|reservation (?:id|number|code)|which booking|confirmation number",
    "route": r"where (?:to|from)|destination|origin|route|which (?:city|airport)",
    "date": r"dates?\b|which day|what day|when (?:do|would|are|is)",
    "flight": r"which flight|flight number|departure time|what time|morning or|time of day",
    "fare": r"fares?\b|cabin|travel class|class of",
    "passengers": r"passengers?\b|travell?ers?\b|full names?|who (?:is|will be|else is) (?:travel|fly)\w*|"
    r"how many (?:people|of you|are)",
    "seat": r"seats?\b|seating|window or aisle|aisle or window",
    "meal": r"meals?\b|food|diet\w*|eat\b|vegetarian",
    "bags": r"bags?\b|baggage|luggage|suitcases?",
    "protection": r"protection|insurance",
    "payment": r"payment|pay\b|card\b|cards\b|voucher to use|method",
    "reason": r"reason|why\b",
}
"""Slots that a user can be asked for, each with what asks for it."""

_RIVALS: dict[str, tuple[str, ...]] = {
    "seat": ("window", "aisle"),
    "meal": ("regular", "vegetarian", "vegan"),
    "fare": ("basic", "classic", "flex"),
}
_ASKING = re.compile(
    r"\?|\bneed(?: the following)?:|\b(?:please (?:provide|share|tell|give|confirm|state|let|specify|choose|send)|"
    r"could you|can you|would you|may i|tell me|let me know|provide|give me|i(?:'ll)? (?:also )?need (?:your|"
    r"the|to know)|what(?: is|'s)|which)\b",
    re.IGNORECASE,
)
_YES_WANTED = re.compile(
    r"\b(?:shall i|should i|do i have your|may i (?:go|proceed)|proceed|go ahead|confirm|"
    r"is (?:this|that|it|everything) (?:ok|okay|right|correct|fine)|does (?:this|that) (?:look|sound|work)|"
    r"yes or no|yes/no|do you agree)\b",
    re.IGNORECASE,
)
_OFFER = re.compile(r"\b(?:would you like|do you want|would you want|can i|want me to|happy to)\b", re.IGNORECASE)
_NO = re.compile(
    r"\b(?:can(?:no|')t|cannot|can not|unable|not (?:able|allowed|possible|eligible|permitted|due)|"
    r"(?:isn|aren|don|doesn|won)'t (?:possible|allow\w*|permit\w*|eligible|cover)|against (?:our|the) (?:policy|rules)|"
    r"ha(?:ve|s) to decline|must (?:decline|refuse)|no (?:flights?|seats?|refund|compensation|voucher)\b|"
    r"(?:does|do) not (?:allow|cover|qualify|permit))",
    re.IGNORECASE,
)
_NOT_YET = re.compile(r"\b(?:until|without|before i|unless you|find (?:you|your))\b", re.IGNORECASE)
_SETTLED = re.compile(
    r"\b(?:done|booked|changed|moved|cancell?ed|updated|issued|added|complete[d]?|all set|successful\w*|refunded|"
    r"anything else|something else|further (?:help|assistance)|have a (?:nice|good|great|pleasant)|goodbye)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


class Heard(NamedTuple):
    """What a message says to a user.

    Args:
        asked: slots it asks for, in the order of `SLOTS`.
        wants_yes: it wants a clear yes to something.
        offers: it offers something.
        says_no: it says that something cannot be.
        settled: it says that something is done, gives an answer, or asks whether there is anything else.
    """

    asked: tuple[str, ...]
    wants_yes: bool
    offers: bool
    says_no: bool
    settled: bool


def hear(text: str) -> Heard:
    """Listen to a message; any text will do."""
    asked: set[str] = set()
    wants_yes = offers = says_no = False
    for sentence, asking in _sentences(text):
        confirming = asking and bool(_YES_WANTED.search(sentence))
        slots = {slot for slot, pattern in SLOTS.items() if re.search(rf"\b(?:{pattern})", sentence, re.IGNORECASE)}
        if confirming and re.search(r"\bconfirm (?:your|which|whether|the (?:name|e-?mail))", sentence, re.IGNORECASE):
            confirming = not slots  # "please confirm your e-mail" asks for it
        if asking and not confirming:
            asked |= slots
        wants_yes |= confirming
        offers |= asking and not slots and bool(_OFFER.search(sentence))
        says_no |= bool(_NO.search(sentence)) and not asking and not _NOT_YET.search(sentence)
    return Heard(
        tuple(slot for slot in SLOTS if slot in asked), wants_yes, offers, says_no, bool(_SETTLED.search(text))
    )


def misheard_choices(text: str, choices: Mapping[str, str]) -> list[str]:
    """Slots for which a proposal names another value than the user's, and the user's nowhere."""
    words = set(re.findall(r"[a-z]+", text.casefold()))
    return [
        slot
        for slot, value in choices.items()
        if slot in _RIVALS and value not in words and words & (set(_RIVALS[slot]) - {value})
    ]


def _sentences(text: str) -> list[tuple[str, bool]]:
    """Sentences, each with whether it asks. Items of a list ask when the line that introduces them does."""
    found: list[tuple[str, bool]] = []
    introduced = False
    for line in text.splitlines():
        if not line.strip():
            continue
        item = _ITEM.match(line)
        parts = [part for part in re.split(r"(?<=[.!?])\s+", line.strip()) if part]
        for part in parts:
            found.append((part, bool(_ASKING.search(part)) or bool(item and introduced)))
        if not item:
            introduced = bool(parts) and parts[-1].rstrip().endswith(":") and found[-1][1]
    return found
