"""The memory builder's metric: what its memory does for the queries of that history.

A memory has no gold text: two good notes can share no word, and a fluent one can be useless. What counts is the calls
it leads to. So the metric asks the history's queries with the built memory and takes the mean of each call's preference
score (IMP-F1 of the item; 1 for a query that decides nothing and gets nothing, so that abstention counts). Explicit
arguments are left out: the query states them whatever the memory says.

Among memories that do the same the shorter one is better: every later prompt pays for its tokens, and a long note hides
what it invents. That is a tie-breaker, at most `LENGTH_WEIGHT`, less than one query of fifty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dspy

from prefine_dspy.hypothesis import MAX_HYPOTHESIS_LENGTH
from prefine_dspy.rendering import memory_text
from prefine_dspy.types import Memory
from programs.compilation.job import Metric

LENGTH_WEIGHT = 0.02
# (query example, memory) -> the caller's prediction
Answer = Callable[[dspy.Example, Memory], Any]
# (history example, memory text) -> agreement between 0 and 1, and what is wrong in words
Agreement = Callable[[dspy.Example, str], tuple[float, str]]


class BuilderMetric:
    """Scores a built memory by the calls it leads to. One LM call a query of the history.

    The example holds `queries`: examples with `query`, `tools` and `gold`. The prediction holds `memory`.

    Args:
        answer: the caller that reads the memory.
        item_metric: of one query, between 0 and 1; IMP-F1 of the item.
        feedback: of one query, with text; needed when `with_feedback`.
        with_feedback: return `dspy.Prediction(score=, feedback=)`, for GEPA.
    """

    def __init__(
        self, answer: Answer, item_metric: Metric, feedback: Metric | None = None, *, with_feedback: bool = False
    ) -> None:
        self.answer = answer
        self.item_metric = item_metric
        self.feedback = feedback
        self.with_feedback = with_feedback
        self.__name__ = f"memory_{getattr(item_metric, '__name__', 'metric')}"

    def __call__(
        self, gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """The mean over the history's queries, less the tie-breaker for length."""
        memory = _memory(pred)
        text = memory_text(memory)
        scores, lines = [], []
        for query in gold.queries:
            prediction = self.answer(query, memory)
            scores.append(float(self.item_metric(query, prediction)))
            if self.feedback is not None and self.with_feedback and scores[-1] < 1:
                lines.append(str(self.feedback(query.copy(memory=text), prediction).feedback))
        score = (sum(scores) / len(scores) if scores else 0.0) - length_penalty(text)
        if not self.with_feedback:
            return score
        said = " ".join(dict.fromkeys(lines)) or "Every query of this user was answered as they wanted."
        return dspy.Prediction(score=score, feedback=f'The note was "{text}". {said}')


class ProxyMetric:
    """Scores a built memory without any LM call, for wide searches: does it say what the annotation says?

    It agrees with `BuilderMetric` only as far as the caller makes use of what is said, and it knows no wording but the
    annotation's: use it to throw candidates out, and the true metric to choose among the rest.

    Args:
        agreement: compares a memory with what is known of the history.
        with_feedback: as in `BuilderMetric`.
    """

    def __init__(self, agreement: Agreement, *, with_feedback: bool = False) -> None:
        self.agreement = agreement
        self.with_feedback = with_feedback
        self.__name__ = "memory_agreement_proxy"

    def __call__(
        self, gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """The agreement, less the tie-breaker for length."""
        text = memory_text(_memory(pred))
        agreement, said = self.agreement(gold, text)
        score = agreement - length_penalty(text)
        return dspy.Prediction(score=score, feedback=said) if self.with_feedback else score


def length_penalty(text: str) -> float:
    """Between 0 for nothing and `LENGTH_WEIGHT` for the longest hypothesis there can be."""
    return LENGTH_WEIGHT * min(1.0, len(text) / MAX_HYPOTHESIS_LENGTH)


def _memory(prediction: Any) -> Memory:
    memory = prediction.get("memory") if hasattr(prediction, "get") else getattr(prediction, "memory", None)
    return memory if isinstance(memory, Memory) else Memory()
