"""The course of a compilation: score, compile part after part, score again; the best so far whatever ends it."""

from __future__ import annotations

from typing import Any, NamedTuple

from eval.compiling.scores import before_and_after, clusters
from eval.compiling.task import MPTTask
from eval.compiling.workspace import Workspace
from eval.metrics.counts import ItemScore
from eval.progress import PhaseProgress
from prefine_dspy.errors import BudgetExhausted, InputError
from prefine_dspy.manifest import Scores
from programs.compilation.demonstrations import check_all_have_demonstrations
from programs.compilation.estimate import CALLS_PER_SESSION
from programs.compilation.optimizers import ALWAYS_DEMONSTRATING, finished, optimize
from programs.compilation.parts import PartName, graft

SCORED = ("dev", "test")


class Compiled(NamedTuple):
    """Args:
    program: the best program that was found.
    scores: by split.
    notes: by part, what was chosen: label, and its score on dev if it was measured.
    stopped: why it ended early, or "".
    """

    program: Any
    scores: dict[str, Scores]
    notes: list[str]
    stopped: str


def compile_program(
    task: MPTTask, program: Any, optimizer: str, parts: tuple[PartName, ...], workspace: Workspace
) -> Compiled:
    """Run it all inside an open workspace.

    When the budget ends while optimizing, the best program so far is scored with what was set aside for that; when it
    ends while scoring, those scores are missing.

    Raises:
        InputError: the LM cannot be used, or the budget does not even cover the scores.
        EmptyDemonstrationsError: the train split has nothing to demonstrate a predictor with.
    """
    limit = workspace.max_calls
    aside = calls_for_scores(task, parts)
    if limit is not None and optimizer != "labeled" and limit <= aside:
        raise InputError(
            f"--max-calls {limit} does not cover the scores before and after ({aside} LM calls): raise it, or lower "
            "--dev-histories, --test-histories or --queries-per-history"
        )
    before = {"dev": _scored(task, program, "dev")}
    compiled, notes, stopped = program, [], ""
    workspace.allow(None if limit is None else max(0, limit - _after(task, parts)))
    for part in parts:
        try:
            job = task.job(part, compiled, optimizer)
        except BudgetExhausted as stop:
            stopped = str(stop)
            notes.append(f"{part}: not compiled")
            continue
        stopped = optimize(optimizer, job) or stopped
        best = job.best()
        notes.append(f"{part}: {best.label}" + (f", {best.score:.3f} on dev" if best.score is not None else ""))
        chosen = finished(optimizer, job)
        if optimizer in ALWAYS_DEMONSTRATING:
            check_all_have_demonstrations(chosen)
        compiled = graft(chosen, compiled)
    workspace.allow(limit)
    after = {"dev": _scored(task, compiled, "dev")}
    before["test"], after["test"] = _scored(task, program, "test"), _scored(task, compiled, "test")
    scores = {
        split: before_and_after(before[split], after[split], clusters(task.splits[split]))
        for split in SCORED
        if before[split] or after[split]
    }
    if not stopped and any(after[split] is None for split in SCORED):
        stopped = "the budget ended while scoring"
    return Compiled(compiled, scores, notes, stopped)


def _scored(task: MPTTask, program: Any, name: str) -> list[ItemScore] | None:
    """The scores of a split; None when the budget ended first."""
    system, split = task.system(program), task.splits[name]
    total = len(split.instances)
    if not total:
        return []
    if system.builds_memory:
        total += sum(len(history.sessions) for history in split.histories if split.of(history.id))
    try:
        with PhaseProgress(f"{name} scores", total, 0, "sessions and queries") as progress:
            return task.harness.item_scores(system, split, progress.advance)
    except BudgetExhausted:
        return None


def calls_for_scores(task: MPTTask, parts: tuple[PartName, ...]) -> int:
    """LM calls of all scores, about: dev before, then what comes after optimizing."""
    return _calls(task, "dev", memories=1) + _after(task, parts)


def _after(task: MPTTask, parts: tuple[PartName, ...]) -> int:
    """LM calls of the scores that come last: dev after, test before and after. Equal memories are built once."""
    changed = "memory" in parts
    return _calls(task, "dev", memories=int(changed)) + _calls(task, "test", memories=1 + changed, answers=2)


def _calls(task: MPTTask, split: str, memories: int, answers: int = 1) -> int:
    builds = task.system(None).builds_memory
    sessions = sum(len(history.sessions) for history in task.splits[split].histories)
    return answers * len(task.splits[split].instances) + round(builds * memories * sessions * CALLS_PER_SESSION)
