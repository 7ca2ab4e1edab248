"""Tagged sentences as text, in the paper's form and in that of its released data.

<a:GET_DENTISTS> Find a dentist in <sl:CITY> New Haven</sl>.</a>
[IN:GET_DENTISTS Find a dentist in [SL:CITY New Haven ]. ]
"""

from __future__ import annotations

from typing import Literal

from prefine_dspy.tagging.labels import action_label, slot_label
from prefine_dspy.tagging.tags import Tag, Tagged

Form = Literal["angle", "bracket"]


def render_tags(tagged: Tagged, form: Form = "angle") -> str:
    """The sentence with its tags.

    `parse_tags` reads it back exactly, names through `function_of`, if the sentence itself holds nothing that looks
    like a tag (in bracket form: nor a lone square bracket).
    """
    parts: list[str] = []
    position = 0
    open_tags: list[Tag] = []

    def close(until: int) -> None:
        nonlocal position
        while open_tags and open_tags[-1].end <= until:
            tag = open_tags.pop()
            parts.append(tagged.text[position : tag.end])
            position = tag.end
            parts.append(_closing(tagged.text, tag, form))

    for tag in tagged.tags():
        close(tag.start)
        parts.append(tagged.text[position : tag.start])
        position = tag.start
        parts.append(_opening(tag, form))
        open_tags.append(tag)
    close(len(tagged.text))
    return "".join([*parts, tagged.text[position:]])


def _opening(tag: Tag, form: Form) -> str:
    label = action_label(tag.name) if tag.slot is None else slot_label(tag.name)
    if form == "angle":
        return f"<{'a' if tag.slot is None else 'sl'}:{label}> "
    return f"[{'IN' if tag.slot is None else 'SL'}:{label} "


def _closing(text: str, tag: Tag, form: Form) -> str:
    if form == "angle":
        return "</a>" if tag.slot is None else "</sl>"
    # before a letter the blank would be read as one of the sentence
    return "]" if text[tag.end : tag.end + 1].isalnum() else " ]"
