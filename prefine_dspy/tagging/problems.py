"""What was repaired or dropped while tags were read, checked or placed."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal[
    "surrounding_text",  # a fence, a line before the tagged text or a paragraph after it was cut off
    "unclosed",  # a tag had no end
    "stray_close",  # an end without a tag
    "too_many",  # opening tags beyond what a sentence can hold
    "empty",  # a tag without words or without a name
    "slot_outside_action",  # given to the neighbouring action, or dropped where there is none
    "renamed_function",  # another name than the catalogue's was written, one near to it is meant
    "renamed_slot",
    "unknown_function",  # dropped with its slots
    "unknown_slot",  # dropped, the words stay
    "not_found",  # a value that the sentence does not hold was dropped
    "crossing",  # a tag that crosses another was dropped
    "words_dropped",  # words of the sentence were missing
    "words_added",  # words that the sentence does not hold were written
]


class TagProblem(NamedTuple):
    """One of them.

    Args:
        text: the label, value or words that it is about.
    """

    kind: Kind
    text: str = ""
