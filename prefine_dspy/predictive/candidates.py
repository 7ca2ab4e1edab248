"""Where hypotheses come from: a generator's samples, rewrites of a rejected one, and two put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from prefine_dspy.adapter import CompactAdapter
from prefine_dspy.hypothesis import one_line
from prefine_dspy.rendering import NOTHING, choices_text, record_text
from prefine_dspy.signatures import GenerateHypothesis, RefineHypothesis
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import Session, ToolCall

SAMPLING_TEMPERATURE = 0.7


class Candidates(dspy.Module):
    """Writes hypotheses. PRefine's generator and refiner with their prompts, without their verifier."""

    def __init__(self) -> None:
        super().__init__()
        self.generate = dspy.Predict(GenerateHypothesis)
        self.refine = dspy.Predict(RefineHypothesis)

    def forward(
        self, previous: str, sessions: Sequence[Session], new: Sequence[ToolCall], tools: Catalogue, n: int
    ) -> dspy.Prediction:
        """`n` samples of the generator: the first as the LM's temperature has it, the others at
        `SAMPLING_TEMPERATURE`. The prediction has `texts` (without repetitions) and `unparsed` (answers that could not
        be read)."""
        texts: list[str] = []
        unparsed: list[str] = []
        for number in range(n):
            # rollout_id: the same question again, not the cached answer
            sampled = {"temperature": SAMPLING_TEMPERATURE, "rollout_id": number, "seed": number} if number else {}
            self._ask(
                self.generate,
                "hypothesis",
                texts,
                unparsed,
                config=_known_to(dspy.settings.lm, sampled),
                record=record_text(sessions[:-1], tools),
                previous=previous or NOTHING,
                session=choices_text(new),
            )
        return dspy.Prediction(texts=texts, unparsed=unparsed)

    def rewritten(
        self, hypothesis: str, feedback: str, sessions: Sequence[Session], tools: Catalogue
    ) -> tuple[list[str], list[str]]:
        """(the refiner's text if it is another one, answers that could not be read)."""
        texts: list[str] = []
        unparsed: list[str] = []
        self._ask(
            self.refine,
            "refined",
            texts,
            unparsed,
            config={},
            record=record_text(sessions, tools),
            hypothesis=hypothesis,
            feedback=feedback,
        )
        return [one for one in texts if one != hypothesis], unparsed

    def _ask(self, predict: dspy.Predict, output: str, texts: list[str], unparsed: list[str], **inputs: Any) -> None:
        with dspy.context(adapter=CompactAdapter()):
            try:
                text = one_line(str(predict(**inputs)[output]))
            except AdapterParseError as error:
                unparsed.append(error.lm_response or "")
                return
        if text and text not in texts:
            texts.append(text)


def merged(left: str, right: str) -> str:
    """One hypothesis that says what two say: for users whose choices neither explains alone."""
    return one_line(f"{left.rstrip('.')}; {right[:1].lower()}{right[1:]}")


def _known_to(lm: dspy.BaseLM | None, config: dict[str, Any]) -> dict[str, Any]:
    """Without what the LM does not take; a missing LM is DSPy's to report."""
    allowed = {"rollout_id", *(lm.supported_params if lm is not None else ())}
    return {name: value for name, value in config.items() if name in allowed}
