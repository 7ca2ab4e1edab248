"""PRefine verified by prediction, as a benchmark drives it."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from prefine_dspy.predictive import PredictivePRefine
from prefine_dspy.predictive.correction import Prior, Priors
from prefine_dspy.predictive.lift import Measure
from prefine_dspy.predictive.prefine import Caller, Verifier
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session

__all__ = ["PredictivePRefine", "PredictiveSystem"]


class PredictiveSystem:
    """`PredictivePRefine` as the runner drives it; its options are that program's."""

    name = "predictive"
    builds_memory = True

    def __init__(
        self,
        verifier: Verifier = "predictive",
        caller: Caller = "contrastive",
        K: int = 1,  # noqa: N803 - the paper's name
        samples: int = 2,
        bank: Sequence[str] = (),
        most: int = 3,
        merges: bool = False,
        half_life: float | None = None,
        evidence: int = 8,
        measure: Measure = "kl",
        verify_threshold: float = 0.15,
        threshold: float = 0.08,
        prior: Prior = "uniform",
        priors: Priors | None = None,
    ) -> None:
        self.program = PredictivePRefine(
            verifier=verifier,
            caller=caller,
            K=K,
            samples=samples,
            bank=bank,
            most=most,
            merges=merges,
            half_life=half_life,
            evidence=evidence,
            measure=measure,
            verify_threshold=verify_threshold,
            threshold=threshold,
            prior=prior,
            priors=priors,
        )

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`."""
        return self.program.update(memory, sessions, tools)

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        """The prediction for one query, from the memory alone."""
        prediction = self.program.answer(query, tools, memory)
        prediction.memory_text = memory.text
        return prediction
