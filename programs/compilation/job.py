"""One part to be compiled, with everything that an optimizer may use, and the best program so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import dspy

from prefine_dspy.errors import BudgetExhausted
from programs.compilation.demonstrations import Pools

Metric = Callable[..., Any]
SAY_EVERY_SECONDS = 15.0


@dataclass(frozen=True)
class Settings:
    """What an optimizer is told. Defaults fit a local LM: minutes, not hours.

    Args:
        demos: demonstrations for each predictor.
        candidates: programs that are compared on dev beside the uncompiled one.
        bootstrapped: successful train examples whose traces become demonstrations.
        trials: evaluations of bootstrap-optuna and mipro; 0 takes twice the candidates.
        metric_calls: of gepa; 0 takes its floor and two candidates' worth.
        steps: of simba.
        threshold: the least score at which a history's run is good enough to show; queries must be wholly right.
        seed: of every choice.
    """

    demos: int = 4
    candidates: int = 3
    bootstrapped: int = 4
    trials: int = 0
    metric_calls: int = 0
    steps: int = 2
    threshold: float = 0.5
    seed: int = 0

    @property
    def all_trials(self) -> int:
        return self.trials or 2 * self.candidates


class Candidate(NamedTuple):
    """A program that was considered.

    Args:
        label: how it was made, e.g. "labelled, seed 3".
        part: the program.
        score: its mean over dev; None when it was not measured.
    """

    label: str
    part: dspy.Module
    score: float | None


@dataclass
class Job:
    """One part to be compiled.

    Args:
        name: "memory", "tagger" ...
        student: the part as it is.
        pools: labelled demonstrations by predictor, from the train split.
        train, dev: examples; see `programs.compilation.parts` and `nlsi_parts` for what one is. A `kind` in one is that
            of the demonstrations that come of it.
        metric: of one example, as DSPy calls it; between 0 and about 1.
        feedback: the same, returning score and text, for GEPA.
        threshold: the least score of a train example whose trace is kept; None takes the metric's own word.
        lm: runs the part.
        teacher_lm: makes traces and proposes instructions.
        settings: of the optimizer.
        check: raises when the run has to end (budget, dead LM).
        say: progress, one line.
    """

    name: str
    student: dspy.Module
    pools: Pools
    train: Sequence[dspy.Example]
    dev: Sequence[dspy.Example]
    metric: Metric
    feedback: Metric
    lm: dspy.BaseLM
    teacher_lm: dspy.BaseLM
    settings: Settings
    threshold: float | None = None
    check: Callable[[], None] = lambda: None
    say: Callable[[str], None] = lambda line: None
    candidates: list[Candidate] = field(default_factory=list)

    def propose(self, label: str, part: dspy.Module) -> None:
        """A program for the case that nothing gets measured."""
        self.candidates.append(Candidate(label, part, None))

    def measure(self, label: str, part: dspy.Module) -> float:
        """The mean of the metric over dev."""
        score = self.mean(part, self.dev)
        self.candidates.append(Candidate(label, part, score))
        self.say(f"{self.name}: {label}: {score:.3f} on {len(self.dev)} dev examples")
        return score

    def mean(self, part: dspy.Module, examples: Sequence[dspy.Example]) -> float:
        """One example after the other, so that a killed compilation finds its answers again.

        `dspy.Evaluate` would swallow the end of the budget, and submits slow examples twice.
        """
        scores: list[float] = []
        started = last = time.monotonic()
        with dspy.context(lm=self.lm):
            for example in examples:
                scores.append(self._score(part, example))
                now = time.monotonic()
                if now - last > SAY_EVERY_SECONDS:
                    last = now
                    left = (now - started) / len(scores) * (len(examples) - len(scores))
                    self.say(f"{self.name}: {len(scores)} of {len(examples)} examples, {left:.0f} s left of this set")
        return math.fsum(scores) / len(scores) if scores else 0.0

    def _score(self, part: dspy.Module, example: dspy.Example) -> float:
        try:
            prediction = part(**example.inputs())
        except Exception as error:
            self.check()
            if isinstance(error, BudgetExhausted):
                raise
            return 0.0  # an answer that cannot be used, or a prompt that does not fit: a bad candidate
        self.check()
        return float(self.metric(example, prediction))

    def best(self) -> Candidate:
        """The highest score, the earlier one of two equal ones; before anything was measured the latest proposal."""
        measured = [one for one in self.candidates if one.score is not None]
        if measured:
            return max(measured, key=lambda one: one.score or 0.0)
        return self.candidates[-1]
