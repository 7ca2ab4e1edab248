"""Hand tags as labelled demonstrations for a Tagger (TAPS's tagger prompt has one; a compiled one has several)."""

from __future__ import annotations

from collections.abc import Mapping

import dspy

from prefine_dspy.tagging.answers import answer_of
from prefine_dspy.tagging.fitting import fit
from prefine_dspy.tagging.parsing import parse_tags
from prefine_dspy.tagging.rendering import render_tags
from prefine_dspy.tagging.tagger import AnswerForm
from prefine_dspy.tools import Catalogue


def demonstrations_from_tags(
    tags: Mapping[str, str], tools: Catalogue, form: AnswerForm = "values"
) -> list[dspy.Example]:
    """One example a tagged sentence: `instruction`, and `tags` as a Tagger of that form should answer.

    Args:
        tags: tagged text, in either form, by sentence; what a catalogue does not know is left out.
        tools: the Tagger's.
        form: as of the Tagger.

    Returns:
        In the mapping's order, without sentences whose tags do not fit them or say nothing.
    """
    examples = []
    for sentence, written in tags.items():
        tagged = fit(parse_tags(written, tools).tagged, sentence).tagged
        if tagged is None or not tagged.actions:
            continue
        answer = render_tags(tagged) if form == "inline" else answer_of(tagged)
        examples.append(dspy.Example(instruction=sentence, tags=answer).with_inputs("instruction"))
    return examples
