"""PredictivePRefine: PRefine with its verifier, its caller, or both, replaced by predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import dspy

from prefine_dspy.caller import ToolCaller
from prefine_dspy.errors import InputError
from prefine_dspy.hypothesis import HypothesisMemory
from prefine_dspy.predictive.contrast import ContrastiveCaller
from prefine_dspy.predictive.correction import Prior, Priors
from prefine_dspy.predictive.lift import Measure
from prefine_dspy.predictive.memory import PredictiveMemory
from prefine_dspy.rendering import memory_text
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import History, Memory, MemoryUpdate, Query, Session

Verifier = Literal["llm", "predictive"]
Caller = Literal["plain", "contrastive"]


class PredictivePRefine(dspy.Module):
    """Both parts with their different clocks: `memory` runs once a session, `caller` once a query.

    Args:
        verifier: "predictive" (`PredictiveMemory`), or "llm", the paper's (`HypothesisMemory`).
        caller: "contrastive" (`ContrastiveCaller`), or "plain", which reads the memory as text (`ToolCaller`).
        K, evidence: of either verifier.
        samples, bank, most, merges, half_life: of the predictive one.
        verify_threshold: from which lift on an observation counts for or against a hypothesis.
        threshold: from which lift on an argument is filled in.
        measure: of both lifts.
        prior, priors: of both; see `Correction`.
    """

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
        super().__init__()
        if verifier not in ("llm", "predictive"):
            raise InputError(f"verifier must be llm or predictive, not {verifier!r}")
        if caller not in ("plain", "contrastive"):
            raise InputError(f"caller must be plain or contrastive, not {caller!r}")
        self.memory: HypothesisMemory | PredictiveMemory
        if verifier == "llm":
            self.memory = HypothesisMemory(K=K, evidence=evidence)
        else:
            self.memory = PredictiveMemory(
                K=K,
                samples=samples,
                bank=bank,
                most=most,
                merges=merges,
                measure=measure,
                threshold=verify_threshold,
                half_life=half_life,
                prior=prior,
                priors=priors,
                evidence=evidence,
            )
        self.caller = ContrastiveCaller(measure, threshold, prior, priors) if caller == "contrastive" else ToolCaller()

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        """The memory after `sessions[-1]`, all earlier ones having been seen."""
        changed: MemoryUpdate = self.memory(memory=memory, sessions=sessions, tools=tools)
        return changed

    def answer(self, query: Query, tools: Catalogue, memory: Memory) -> dspy.Prediction:
        """The prediction for one query, from the memory alone."""
        read = memory if isinstance(self.caller, ContrastiveCaller) else memory_text(memory)
        prediction: dspy.Prediction = self.caller(query=query, tools=tools, memory=read)
        return prediction

    def forward(self, history: History, query: Query, tools: Catalogue) -> dspy.Prediction:
        """Build the memory over the whole history, then answer; the prediction also has `memory`."""
        memory = Memory()
        for seen in range(1, len(history.sessions) + 1):
            memory = self.update(memory, history.sessions[:seen], tools).memory
        prediction = self.answer(query, tools, memory)
        prediction.memory = memory
        return prediction
