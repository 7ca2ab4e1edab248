"""Where hypotheses come from: a generator's samples, rewrites of a rejected one, and two put together.

The predictors are PRefine's generator and refiner; they come in as arguments, so that they keep their names in the
program and with them their demonstrations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.hypothesis import one_line
from prefine_dspy.rendering import NOTHING, choices_text, record_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Session, ToolCall

SAMPLING_TEMPERATURE = 0.7


class Written(NamedTuple):
    """Args:
    texts: hypotheses, without repetitions.
    unparsed: answers that could not be read.
    """

    texts: list[str]
    unparsed: list[str]


def sampled(
    generate: dspy.Predict,
    previous: str,
    sessions: Sequence[Session],
    new: Sequence[ToolCall],
    tools: Catalogue,
    n: int,
) -> Written:
    """`n` samples of the generator: the first as the LM's temperature has it, the others at `SAMPLING_TEMPERATURE`.

    Args:
        generate: of `GenerateHypothesis`.
        previous: the memory's text.
        sessions: of the user, oldest first.
        new: lasting calls of the last one.
        tools: tell transient from lasting arguments.
        n: how many.
    """
    found = Written([], [])
    for number in range(n):
        # rollout_id: the same question again, not the cached answer
        config = {"temperature": SAMPLING_TEMPERATURE, "rollout_id": number, "seed": number} if number else {}
        _ask(
            generate,
            "hypothesis",
            found,
            config=_known_to(dspy.settings.lm, config),
            record=record_text(sessions[:-1], tools),
            previous=previous or NOTHING,
            session=choices_text(new),
        )
    return found


def rewritten(
    refine: dspy.Predict, hypothesis: str, feedback: str, sessions: Sequence[Session], tools: Catalogue
) -> Written:
    """The refiner's text, if it is another one.

    Args:
        refine: of `RefineHypothesis`.
        hypothesis: the rejected one.
        feedback: what speaks against it.
        sessions, tools: see `sampled`.
    """
    found = Written([], [])
    _ask(
        refine,
        "refined",
        found,
        config={},
        record=record_text(sessions, tools),
        hypothesis=hypothesis,
        feedback=feedback,
    )
    return found._replace(texts=[one for one in found.texts if one != hypothesis])


def merged(left: str, right: str) -> str:
    """One hypothesis that says what two say: for users whose choices neither explains alone."""
    return one_line(f"{left.rstrip('.')}; {right[:1].lower()}{right[1:]}")


def _ask(predict: dspy.Predict, output: str, found: Written, **inputs: Any) -> None:
    with dspy.context(adapter=CompactAdapter()):
        try:
            text = one_line(str(predict(**inputs)[output]))
        except AdapterParseError as error:
            found.unparsed.append(error.lm_response or "")
            return
    if text and text not in found.texts:
        found.texts.append(text)


def _known_to(lm: dspy.BaseLM | None, config: dict[str, Any]) -> dict[str, Any]:
    """Without what the LM does not take; a missing LM is DSPy's to report."""
    allowed = {"rollout_id", *(lm.supported_params if lm is not None else ())}
    return {name: value for name, value in config.items() if name in allowed}
