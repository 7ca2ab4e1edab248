"""Bootstrapped demonstrations: what the predictors read and wrote in runs that ended well (DSPy's BootstrapFewShot).

DSPy keeps one step a predictor and example, mostly the last one; of a verifier that would be acceptances only, and a
whole history would give a single demonstration. So all steps of a successful run are kept here, by kind.
"""

from __future__ import annotations

from typing import Any

import dspy

from programs.compilation.demonstrations import Labelled, choose, give
from programs.compilation.job import Job
from programs.compilation.parts import predictors


class TraceCollector:
    """A metric that also keeps the steps of the runs that it is content with."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.steps: list[tuple[Any, Labelled]] = []
        self.__name__ = getattr(job.metric, "__name__", "metric")

    def __call__(self, example: dspy.Example, prediction: Any, trace: Any = None) -> bool:
        self.job.check()
        score = self.job.metric(example, prediction, trace)
        good = bool(score) if self.job.threshold is None else float(score) >= self.job.threshold
        if good:
            for predictor, inputs, outputs in trace or ():
                fields = {name: value for name, value in outputs.items() if name in predictor.signature.output_fields}
                demo = dspy.Example(augmented=True, **inputs, **fields).with_inputs(*inputs)
                self.steps.append((predictor, Labelled(demo, example.get("kind") or kind_of(demo))))
        return good


def traces(job: Job, teacher_seed: int = 0) -> dict[str, list[Labelled]]:
    """By predictor, the steps of successful runs over train examples.

    The teacher is the student with labelled demonstrations, on the teacher LM.
    """
    teacher = labelled(job, teacher_seed)
    collector = TraceCollector(job)
    optimizer = dspy.BootstrapFewShot(
        metric=collector,
        max_bootstrapped_demos=job.settings.bootstrapped,
        max_labeled_demos=0,  # whole examples are no demonstrations of a predictor here
        teacher_settings={"lm": job.teacher_lm},
        max_errors=len(job.train) + 1,
    )
    with dspy.context(lm=job.lm):
        optimizer.compile(job.student, teacher=teacher, trainset=list(job.train))
    job.check()
    found: dict[str, list[Labelled]] = {name: [] for name, _ in predictors(job.student)}
    seen: set[str] = set()
    for predictor, step in collector.steps:
        name = optimizer.predictor2name.get(id(predictor))
        mark = f"{name} {dict(step.demo)!r}"
        if name is not None and mark not in seen:
            seen.add(mark)
            found[name].append(step)
    return found


def kind_of(demo: dspy.Example) -> tuple[str, ...]:
    """The kinds that MPT's labelled demonstrations have, as far as they can be read off a step; of an agent's step,
    the tool that it calls."""
    if "evidence_support" in demo:
        accepted = all(demo[name] for name in demo.keys() if isinstance(demo[name], bool) and name != "augmented")
        return ("accept",) if accepted else ("reject", str(demo["error"]))
    if "refined" in demo:
        return ("rewrite",)
    if "call" in demo:
        filled = [value for value in _arguments(demo["call"]).values() if value != "unspecified"]
        return ("applies",) if filled else ("abstains",)
    if "action" in demo:
        action = demo["action"]
        return ("call", str(action["function"])) if isinstance(action, dict) and "function" in action else ("reply",)
    return ("keep",) if demo.get("previous") == demo.get("hypothesis") else ("change",)


def _arguments(call: Any) -> dict[str, Any]:
    arguments = call.get("arguments") if isinstance(call, dict) else None
    return arguments if isinstance(arguments, dict) else {}


def labelled(job: Job, seed: int) -> dspy.Module:
    """The student with labelled demonstrations."""
    return give(job.student, {name: choose(pool, job.settings.demos, seed) for name, pool in job.pools.items()})


def mixed(job: Job, found: dict[str, list[Labelled]], seed: int) -> dspy.Module:
    """The student with demonstrations from its own runs, and labelled ones of the kinds of which there are too few."""
    demos = {
        name: choose(job.pools.get(name, ()), job.settings.demos, seed, first=found.get(name, ()))
        for name, _ in predictors(job.student)
    }
    return give(job.student, demos)
