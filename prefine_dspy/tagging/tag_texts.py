"""Several instructions tagged: looked up where tags are known, else by the tagger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import dspy

from prefine_dspy.tagging.tagger import Tagger
from prefine_dspy.tools import Catalogue


class TagTexts(NamedTuple):
    """Args:
    texts: the instructions in angle form, in order; the plain one where the tagger failed.
    asked: how many the tagger was asked for.
    problems: what went wrong with those.
    """

    texts: list[str]
    asked: int
    problems: list[Any]


def tag_texts(
    texts: Sequence[str], tagger: Tagger, tools: Catalogue, lm: dspy.BaseLM | None, table: Mapping[str, str]
) -> TagTexts:
    """Tag instructions.

    Args:
        lm: the tagger's; None takes the one at work.
        table: tags in angle form by instruction; the tagger is asked for what is not there.
    """
    found: list[str] = []
    asked, problems = 0, []
    for text in texts:
        if text in table:
            found.append(table[text])
            continue
        with dspy.context(lm=lm or dspy.settings.lm):
            tagged = tagger(instruction=text, tools=tools)
        asked += 1
        problems += list(tagged.problems)
        found.append(tagged.text)
    return TagTexts(found, asked, problems)
