"""TAPS: tag the instructions when that is worth it (TAPS section 3).

    answer -> how sure? -> sure: that is it / unsure: tag the instructions, answer again

The decision is taken while answering, from the log-probabilities of the first answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dspy

from prefine_dspy.confidence import confidences, read_tokens, scored
from prefine_dspy.gate import Estimator, disagreement, gate_of, uncertainties
from prefine_dspy.interpreter import Interpreter, TaggedInterpreter
from prefine_dspy.standing import InstructedQuery
from prefine_dspy.tagging import Tagger, TagTexts, tag_texts
from prefine_dspy.tools import Catalogue

SAMPLES = 5
SAMPLING_TEMPERATURE = 0.7


class Default(dspy.Module):
    """Instructions as they are (TAPS's Default), with the uncertainty of the answer.

    Args:
        linked, nearest, fixed: see `Interpreter`.
    """

    def __init__(self, linked: bool = True, nearest: int = 0, fixed: int = 0) -> None:
        super().__init__()
        self.interpreter = Interpreter(linked, nearest, fixed)

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `Interpreter.forward`; `uncertainty` holds every estimator that the LM's log-probabilities allow, and is
        empty where it gives none."""
        lm = dspy.settings.lm
        with dspy.context(lm=scored(lm)[0] if lm is not None else None):  # a missing LM is DSPy's to report
            prediction = self.interpreter(request=request, tools=tools)
        arguments = confidences(prediction.logprobs, prediction.calls, tools)
        prediction.uncertainty = uncertainties(read_tokens(prediction.logprobs), arguments)
        return prediction


class ExtTag(dspy.Module):
    """Instructions with tags (TAPS's Ext-Tag): of the program's own tagger, or of a table.

    Args:
        lm: the tagger's LM; None takes the interpreter's.
        table: tags in angle form by instruction, e.g. gold ones or a stronger LM's; they are looked up first, and the
            tagger is asked for what is not there.
        linked, nearest, fixed: see `Interpreter`.
        tag_nearest, tag_fixed: `nearest` and `fixed` of the tagger.
    """

    def __init__(
        self,
        lm: dspy.BaseLM | None = None,
        table: Mapping[str, str] | None = None,
        linked: bool = True,
        nearest: int = 0,
        fixed: int = 0,
        tag_nearest: int = 0,
        tag_fixed: int = 0,
    ) -> None:
        super().__init__()
        self.tagger = Tagger(nearest=tag_nearest, fixed=tag_fixed)
        self.interpreter = TaggedInterpreter(linked, nearest, fixed)
        self._lm = lm
        self._table = table or {}

    def tags(self, texts: Sequence[str], tools: Catalogue) -> TagTexts:
        """The instructions in angle form."""
        return tag_texts(texts, self.tagger, tools, self._lm, self._table)

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `Interpreter.forward`; `tags` holds the instructions as they were read, `tagged` says whether there were
        any, and `tagger_calls` counts the tagger's answers."""
        found, asked, problems = self.tags(request.texts(), tools)
        prediction = self.interpreter(request=request, tags=found, tools=tools)
        prediction.problems = [*problems, *prediction.problems]
        prediction.tags, prediction.tagged, prediction.tagger_calls = found, bool(found), asked
        return prediction


class Gated(dspy.Module):
    """What programs share that answer first and go on when unsure.

    Args:
        estimator: see `gate.Gate`; "disagreement" samples `SAMPLES` answers, for LMs without log-probabilities.
        threshold: see `gate.Gate`.
        linked, nearest, fixed: see `Interpreter`.
    """

    def __init__(
        self, estimator: Estimator, threshold: float, linked: bool = True, nearest: int = 0, fixed: int = 0
    ) -> None:
        super().__init__()
        self.default = Default(linked, nearest, fixed)
        self.gate = gate_of(estimator, threshold)

    def first(self, request: InstructedQuery, tools: Catalogue) -> tuple[dspy.Prediction, bool]:
        """The first answer (`tagged` False, `first_calls` its calls), and whether to go on: the gate is unsure, and
        there is an instruction to tag."""
        answer = self.default(request=request, tools=tools)
        if self.gate.estimator == "disagreement":
            answer.uncertainty = {**answer.uncertainty, "disagreement": self._disagreement(answer, request, tools)}
        answer.tagged, answer.tagger_calls, answer.first_calls = False, 0, answer.calls
        return answer, bool(request.applicable) and self.gate.unsure(answer.uncertainty)

    def _disagreement(self, first: dspy.Prediction, request: InstructedQuery, tools: Catalogue) -> float:
        lm = dspy.settings.lm
        samples = []
        for number in range(SAMPLES):
            # rollout_id: the same question again, not the cached answer
            with dspy.context(lm=lm.copy(temperature=SAMPLING_TEMPERATURE, rollout_id=number + 1)):
                samples.append(self.default.interpreter(request=request, tools=tools).calls)
        return disagreement(first.calls, samples)


class Taps(Gated):
    """Answer, and tag and answer again when unsure.

    Args:
        estimator, threshold, linked, nearest, fixed: see `Gated`.
        lm, table, tag_nearest, tag_fixed: see `ExtTag`.
    """

    def __init__(
        self,
        estimator: Estimator = "least_confidence",
        threshold: float = 0.02,
        lm: dspy.BaseLM | None = None,
        table: Mapping[str, str] | None = None,
        linked: bool = True,
        nearest: int = 0,
        fixed: int = 0,
        tag_nearest: int = 0,
        tag_fixed: int = 0,
    ) -> None:
        super().__init__(estimator, threshold, linked, nearest, fixed)
        self.ext_tag = ExtTag(lm, table, linked, nearest, fixed, tag_nearest, tag_fixed)

    def forward(self, request: InstructedQuery, tools: Catalogue) -> dspy.Prediction:
        """See `ExtTag.forward`; `uncertainty` is that of the first answer and `first_calls` are its calls. Without
        instructions there is nothing to tag: the first answer stands."""
        first, unsure = self.first(request, tools)
        if not unsure:
            return first
        second = self.ext_tag(request=request, tools=tools)
        second.uncertainty, second.first_calls = first.uncertainty, first.calls
        return second
