"""How a DuRecDial seeker reacts to what is recommended, read from surface forms.

The release does not label reactions, and MPT's filter is not public: these patterns follow the paper's description
and the released records. They are a reading, not a reproduction. What they do not recognise is "open", and an item
that stays open counts as accepted: most seekers accept by asking on.
"""

from __future__ import annotations

import re
from typing import Literal

Reaction = Literal["accepted", "refused", "known", "deferred", "open"]

_TAKE = r"(?:watch|see|hear|listen|eat|have|try|taste|go|visit|want|do)"

_KNOWN = re.compile(
    r"\b(?:i(?:'ve| have)|i)\s+(?:\w+\s+){0,2}?(?:already|watched|seen|heard(?! (?:of|about|that|it's))"
    r"|listened|eaten|tasted|tried|been (?:there|to))\b"
)
_NOT_KNOWN = re.compile(r"\b(?:never|haven't|have not|hadn't|didn't)\b")
_REFUSED = re.compile(
    r"\b(?:don't|do not|didn't|wouldn't|am not|i'm not)\s+(?:(?:really|particularly|quite|very|much|that)\s+)*"
    r"(?:want|wanna|like|feel like|care|fancy|interested|in the mood|into)\b"
    r"|\bnot (?:interested|in the mood|my (?:type|style|cup of tea|taste))\b"
    r"|\bno,? (?:thanks|thank you)\b|\brather not\b|\b(?:hate|dislike)\b"
    rf"|\b(?:what|anything|{_TAKE}(?: to)? something|recommend (?:me )?(?:something|one)) else\b(?! to do)"
    r"|\b(?:any other|some other|another) (?:recommendation|suggestion|one|movie|film|song|dish|food|restaurant)s?\b"
)
_DEFERRED = re.compile(
    r"\b(?:another|some other|any other) (?:time|day)\b|\bmaybe (?:later|next time|tomorrow|someday)\b"
    rf"|\b{_TAKE}\b[^.?!]*\b(?:next time|someday|some day)\b"
)
_ACCEPTED = re.compile(
    rf"\b(?:i'll|i will|i'm going to|i am going to|i'd (?:like|love) to|let me|i can|i have to)\s+(?:\w+\s+)?{_TAKE}\b"
    r"|\b(?:play it|go ahead|good idea|sounds (?:good|great|interesting))\b"
)
_LEAVING = re.compile(r"\b(?:bye|goodbye|talk|chat|call you|see you|see ya)\b")

_CAUSAL = re.compile(
    r"\b(?:because|since|as)\b[^.?!]*\b(?:i|i'm|he's my|she's my)\b[^.?!]*"
    r"\b(?:like|love|prefer|adore|fan of|favou?rite|idol)\b"
    r"|\bi(?:'m)?\b[^.?!]*\b(?:like|love|prefer|adore|fan of)\b[^.?!]*,?\s+so (?:i|please|play|recommend)\b"
    r"|\bi(?:'d| will|'ll)? (?:only|always|usually|prefer to) (?:watch|see|listen to|like)\b"
)
_LEAKED = re.compile(
    r"\byou (?:don't|do not|didn't|never) (?:really )?(?:like|love|want|enjoy)\b|\byou (?:hate|dislike)\b"
)


def reaction(text: str) -> Reaction:
    """What a user turn says about the item recommended just before it; "open" when it says nothing either way.

    "known" is an item the user has had already: no refusal of its kind, but no new call either.
    """
    said = plain(text)
    if _DEFERRED.search(said) and not _LEAVING.search(said):
        return "deferred"
    if _REFUSED.search(said):
        return "refused"
    if _KNOWN.search(said) and not _NOT_KNOWN.search(said):
        return "known"
    return "accepted" if _ACCEPTED.search(said) else "open"


def states_preference(text: str) -> bool:
    """Whether a user turn names a liking as the reason for a choice: then the preference is not latent."""
    return _CAUSAL.search(plain(text)) is not None


def leaks_rejection(text: str) -> bool:
    """Whether a system turn tells the user what they do not like: then the rejection is told, not shown."""
    return _LEAKED.search(plain(text)) is not None


def plain(text: str) -> str:
    """Lower case with straight apostrophes."""
    return text.lower().replace("\u2019", "'")
