"""The course of a compilation: score, compile part after part, score again; the best so far whatever ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eval.compiling.task import Calibrated, Task
from eval.compiling.workspace import Workspace
from eval.progress import PhaseProgress
from prefine_dspy.errors import BudgetExhausted, InputError
from prefine_dspy.manifest import Scores
from programs.compilation.demonstrations import check_all_have_demonstrations, check_one_has_demonstrations
from programs.compilation.optimizers import ALWAYS_DEMONSTRATING, finished, optimize

SCORED = ("dev", "test")


class Compiled(NamedTuple):
    """Args:
    program: the best program that was found.
    scores: by split.
    notes: by part, what was chosen: label, and its score on dev if it was measured.
    stopped: why it ended early, or "".
    calibrated: by part, what was chosen of those without demonstrations.
    """

    program: Any
    scores: dict[str, Scores]
    notes: list[str]
    stopped: str
    calibrated: dict[str, Calibrated]


def compile_program(task: Task, program: Any, optimizer: str, parts: tuple[str, ...], workspace: Workspace) -> Compiled:
    """Run it all inside an open workspace.

    When the budget ends while optimizing, the best program so far is scored with what was set aside for that; when it
    ends while scoring, those scores are missing.

    Raises:
        InputError: the LM cannot be used, or the budget does not even cover the scores.
        EmptyDemonstrationsError: the train split has nothing to demonstrate a predictor with.
    """
    limit = workspace.max_calls
    last = task.calls_after(parts)
    aside = task.calls_before() + last
    if limit is not None and optimizer != "labeled" and limit <= aside:
        raise InputError(
            f"--max-calls {limit} does not cover the scores before and after ({aside} LM calls): raise it, or lower "
            f"{task.size_options}"
        )
    before = {"dev": _scored(task, program, "dev")}
    compiled, notes, stopped = program, [], ""
    calibrated: dict[str, Calibrated] = {}
    workspace.allow(None if limit is None else max(0, limit - last))
    for part in parts:
        try:
            found = task.calibrate(part, compiled)
            if found is not None:
                calibrated[part], compiled = found, found.program
                notes.append(f"{part}: {found.note}")
                continue
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
            # without labels there is nothing to show a predictor with that no good run asked
            check = check_all_have_demonstrations if job.pools else check_one_has_demonstrations
            check(chosen)
        compiled = task.graft(part, chosen, compiled)
    workspace.allow(limit)
    after = {"dev": _scored(task, compiled, "dev")}
    before["test"], after["test"] = _scored(task, program, "test"), _scored(task, compiled, "test")
    scores = {
        split: task.compare(split, before[split], after[split]) for split in SCORED if before[split] or after[split]
    }
    if not stopped and any(after[split] is None for split in SCORED):
        stopped = "the budget ended while scoring"
    return Compiled(compiled, scores, notes, stopped, calibrated)


def _scored(task: Task, program: Any, split: str) -> Sequence[Any] | None:
    """The scores of a split; None when the budget ended first."""
    total, unit = task.units(split)
    if not total:
        return []
    try:
        with PhaseProgress(f"{split} scores", total, 0, unit) as progress:
            return task.item_scores(program, split, progress.advance)
    except BudgetExhausted:
        return None
