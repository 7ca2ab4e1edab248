"""`value_distributions(lm, questions)`: by the best way that the LM allows, each question once."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import dspy

from prefine_dspy.lm.engine import LlamaCppEngine
from prefine_dspy.lm.values import hosted
from prefine_dspy.lm.values.cache import ValueCache
from prefine_dspy.lm.values.distribution import ValueDistribution
from prefine_dspy.lm.values.llama import LlamaCppProbabilities
from prefine_dspy.lm.values.question import ValueQuestion
from prefine_dspy.lm.values.trie import Path

HOSTED_AT_ONCE = 8
"""Questions in flight at a hosted LM. A local one is asked one by one: its cores are busy with one, and questions that
share a prompt prefix must follow each other to find it cached."""
_SHARED = ValueCache()
# how each model tokenizes values: the same for every batch
_paths: WeakKeyDictionary[LlamaCppEngine, dict[tuple[str, str], Path]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Asked:
    """What a batch of questions took.

    Args:
        questions: how many were put to the LM; the others were known.
        evaluated: prompt tokens that the LM had to read and tokens that it wrote; neither what a prefix cache held nor
            what hosted LMs took, whose usage DSPy tracks.
    """

    questions: int = 0
    evaluated: int = 0

    def __add__(self, other: Asked) -> Asked:
        return Asked(self.questions + other.questions, self.evaluated + other.evaluated)


def value_distribution(
    lm: dspy.BaseLM, question: ValueQuestion, *, samples: int = hosted.SAMPLES, cache: ValueCache | None = None
) -> ValueDistribution:
    """See `value_distributions`."""
    return value_distributions(lm, [question], samples=samples, cache=cache)[0][0]


def value_distributions(
    lm: dspy.BaseLM,
    questions: Sequence[ValueQuestion],
    *,
    samples: int = hosted.SAMPLES,
    cache: ValueCache | None = None,
) -> tuple[list[ValueDistribution], Asked]:
    """A distribution for each question, and what they took.

    The local llama.cpp engine measures exactly; other LMs give log-probabilities of an answer, or where they do not
    offer these, `samples` answers. The distribution says which.

    Args:
        lm: any; its cache setting holds.
        questions: repeated ones are asked once. Questions with the same instructions and text are put one after the
            other, so that the LM reads these once.
        samples: for LMs without log-probabilities.
        cache: of distributions; None takes the one of this process.

    Raises:
        The LM's own errors, as DSPy raises them.
    """
    known = _SHARED if cache is None else cache
    found = {one: known.get(lm.model, samples, one) for one in questions}
    todo = sorted(
        (one for one, distribution in found.items() if distribution is None),
        key=lambda one: (one.instructions, one.text, one.given, one.field),
    )
    asking = _Asking(lm, samples)
    for one, (distribution, asked) in zip(todo, asking.all(todo), strict=True):
        found[one] = distribution
        asking.took += asked
        known.put(lm.model, samples, one, distribution)
    return [one for one in map(found.get, questions) if one is not None], asking.took


class _Asking:
    """One batch put to one LM."""

    def __init__(self, lm: dspy.BaseLM, samples: int) -> None:
        self.lm = lm
        self.samples = samples
        self.took = Asked()
        engine = getattr(lm, "engine", None)
        self.measuring = _measuring(lm, engine) if isinstance(engine, LlamaCppEngine) else None

    def all(self, questions: Sequence[ValueQuestion]) -> list[tuple[ValueDistribution, Asked]]:
        if self.measuring is not None or len(questions) < 2:
            return [self.one(question) for question in questions]
        # each in the caller's context: DSPy's settings and whoever counts the calls live there
        contexts = [contextvars.copy_context() for _ in questions]
        with ThreadPoolExecutor(max_workers=HOSTED_AT_ONCE) as pool:
            running = [
                pool.submit(context.run, self.one, question)
                for context, question in zip(contexts, questions, strict=True)
            ]
            return [one.result() for one in running]

    def one(self, question: ValueQuestion) -> tuple[ValueDistribution, Asked]:
        if self.measuring is None:
            listed = hosted.from_logprobs(self.lm, question) if hosted.offers_logprobs(self.lm) else None
            return listed or hosted.from_samples(self.lm, question, self.samples), Asked(1)
        response = self.measuring(question.measuring(self.measuring.model))
        measured = response.probabilities[question.field]
        data = response.provider_data or {}
        usage = response.usage
        distribution = ValueDistribution(
            question.values,
            tuple(measured[value] for value in question.values),
            "exact",
            missing_mass=float(data.get("missing_mass") or 0.0),
            coverage=data.get("coverage"),
        )
        read = (usage.input_tokens or 0) - (usage.cache_read_tokens or 0) + (usage.output_tokens or 0)
        return distribution, Asked(1, read)


def _measuring(lm: dspy.BaseLM, engine: LlamaCppEngine) -> dspy.LM:
    """The same model under the same name, so that DSPy's cache and whoever counts calls see one LM."""
    return dspy.LM(
        lm.model, engine=LlamaCppProbabilities(engine, _paths.setdefault(engine, {})), cache=lm.cache, num_retries=0
    )
