"""MIPROv2, GEPA and SIMBA of DSPy on a `Job`.

What they compare is kept as candidates of the job through a callback, so that a budget that ends inside of them leaves
the best program that was measured on all of dev.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from prefine_dspy.errors import InputError
from programs.compilation.job import Candidate, Job
from programs.compilation.traces import labelled

MIPRO_THRESHOLD = 0.5
SIMBA_BATCH = 32


def mipro(job: Job) -> None:
    """Instructions and demonstrations together, by Bayesian search over dev."""
    job.propose("labelled", labelled(job, job.settings.seed))
    settings = job.settings
    optimizer = dspy.MIPROv2(
        metric=_guarded(job),
        prompt_model=job.teacher_lm,
        task_model=job.lm,
        teacher_settings={"lm": job.teacher_lm},
        max_bootstrapped_demos=settings.demos,
        max_labeled_demos=0,
        auto=None,
        num_candidates=settings.candidates,
        num_threads=1,
        max_errors=_many(job),
        seed=settings.seed + 1,  # MIPROv2 takes 0 for "no seed"
        metric_threshold=MIPRO_THRESHOLD if job.threshold is None else job.threshold,
    )
    with _watching(job), dspy.context(lm=job.lm):
        best = optimizer.compile(
            job.student,
            trainset=list(job.train),
            teacher=labelled(job, settings.seed),
            valset=list(job.dev),
            num_trials=settings.all_trials,
            minibatch=False,
            provide_traceback=False,
        )
    _take(job, "mipro", best)


def gepa(job: Job) -> None:
    """Instructions rewritten by a reflecting LM that reads the metric's feedback."""
    settings = job.settings
    job.propose("labelled", labelled(job, settings.seed))
    floor = len(job.dev) + 3 * (3 + len(job.dev))
    calls = settings.metric_calls or floor
    if calls < len(job.dev) + 3:
        raise InputError(f"gepa needs at least {floor} metric calls for {len(job.dev)} dev examples: --metric-calls N")
    optimizer = dspy.GEPA(
        metric=_guarded_feedback(job),
        max_metric_calls=calls,
        reflection_lm=job.teacher_lm,
        num_threads=1,
        seed=settings.seed,
        # labelled demonstrations stay: GEPA only touches instructions
    )
    with _watching(job), dspy.context(lm=job.lm):
        best = optimizer.compile(labelled(job, settings.seed), trainset=list(job.train), valset=list(job.dev))
    _take(job, "gepa", best)


def simba(job: Job) -> None:
    """Rules and demonstrations from the examples on which runs differ most."""
    settings = job.settings
    job.propose("labelled", labelled(job, settings.seed))
    optimizer = dspy.SIMBA(
        metric=_guarded(job),
        bsize=min(SIMBA_BATCH, len(job.train)),
        num_candidates=settings.candidates,
        max_steps=settings.steps,
        max_demos=settings.demos,
        prompt_model=job.teacher_lm,
        teacher_settings={"lm": job.teacher_lm},
        num_threads=1,
    )
    with _watching(job), dspy.context(lm=job.lm):
        best = optimizer.compile(labelled(job, settings.seed), trainset=list(job.train), seed=settings.seed)
    _take(job, "simba", best)


def _take(job: Job, label: str, part: dspy.Module) -> None:
    """Measure what an optimizer returned, and what it started from, on dev: it may have looked at train only."""
    job.check()
    job.measure("uncompiled", job.student)
    job.measure(label, part)


def _guarded(job: Job) -> Any:
    """The metric, stopping the optimizer as soon as the run has to end."""

    def metric(example: dspy.Example, prediction: Any, trace: Any = None) -> Any:
        job.check()
        return job.metric(example, prediction, trace)

    metric.__name__ = getattr(job.metric, "__name__", "metric")
    return metric


def _guarded_feedback(job: Job) -> Any:
    def metric(
        gold: dspy.Example, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        job.check()
        return job.feedback(gold, pred, trace, pred_name, pred_trace)

    return metric


def _many(job: Job) -> int:
    """More errors than an optimizer can meet: they are failed examples, the budget is watched elsewhere."""
    return 1000 * (len(job.train) + len(job.dev) + 1)


class _Watcher(BaseCallback):
    """Keeps every program that was evaluated on all of dev with its score."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.running: dict[str, dspy.Module] = {}

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        examples = inputs.get("devset") or getattr(instance, "devset", None) or ()
        program = inputs.get("program")
        if program is not None and list(examples) == list(self.job.dev):
            self.running[call_id] = program.deepcopy()

    def on_evaluate_end(self, call_id: str, outputs: Any, exception: Exception | None = None) -> None:
        part = self.running.pop(call_id, None)
        score = getattr(outputs, "score", None)
        if part is not None and exception is None and isinstance(score, int | float):
            label = f"evaluation {len(self.job.candidates)}"
            self.job.candidates.append(Candidate(label, part, float(score) / 100))
            self.job.say(f"{self.job.name}: {label}: {float(score) / 100:.3f} on {len(self.job.dev)} dev examples")


@contextmanager
def _watching(job: Job) -> Iterator[None]:
    with dspy.context(callbacks=[*(dspy.settings.callbacks or []), _Watcher(job)]):
        yield
