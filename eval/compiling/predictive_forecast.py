"""The stages of a compilation without labels and their sizes, for `--dry-run`.

A question for probabilities is an LM call like any other: it is counted, journaled and budgeted, and reads what its
prompt does not share with the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval.compiling.predictive_learned import FACTORS
from prefine_dspy.predictive import PredictiveMemory
from prefine_dspy.rendering import record_text
from programs.compilation.estimate import CALLS_PER_SESSION, CallSize, Stage, search_metric_calls, tokens

if TYPE_CHECKING:
    from eval.compiling.predictive import PredictiveTask

QUESTIONS_PER_SESSION = 10
"""Of the predictive verifier: its candidates at the arguments of the record, known ones for nothing. Histories of the
mini data take 5 on average with an LM that never writes the same twice, and 17 at the most; longer ones take more."""
QUESTIONS_PER_HISTORY = 12
"""Of the metric: the kept hypotheses at the arguments that later sessions chose."""
QUESTION = CallSize(prefix=60, fresh=30, output=1)
WRITTEN = 35
"""Tokens of a hypothesis or a verdict as it is answered."""
INSTRUCTIONS = 150
PREFIXES = 3


def calls_a_build(task: PredictiveTask, split: str) -> int:
    """LM calls of one memory for each history of a split, and of its score, about."""
    return sum(stage.lm_calls for stage in _build(task, "", split))


def forecast(task: PredictiveTask, program: Any, optimizer: str, parts: Sequence[str]) -> list[Stage]:
    """Every step that calls an LM, in order."""
    found = _build(task, "score dev, uncompiled", "dev")
    if "memory" in parts:
        train = min(task.bootstrap_histories, len(task.data.splits["train"]))
        runs = sum(search_metric_calls(optimizer, task.settings, train, len(task.data.splits["dev"])))
        found += _build(task, f"memory: {optimizer}", "train", histories=runs)
    if "learned" in parts:
        if isinstance(program.memory, PredictiveMemory):
            found += _build(task, "learned: bank", "train")
            sessions = sum(len(one.sessions) for one in task.data.splits["train"])
            found.append(_questions("learned: the bank's candidates", sessions * QUESTIONS_PER_SESSION))
            found += _build(task, "learned: verify_threshold", "dev", times=len(FACTORS))
        else:
            found += _build(task, "learned: memories of dev", "dev")
        later = 2 * QUESTIONS_PER_HISTORY * len(task.data.splits["dev"])
        found.append(_questions("learned: later calls of dev", later))
    found += _build(task, "score dev, compiled", "dev")
    found += _build(task, "score test, uncompiled", "test") + _build(task, "score test, compiled", "test")
    return [stage for stage in found if stage.lm_calls]


def _build(task: PredictiveTask, name: str, split: str, times: int = 1, histories: int | None = None) -> list[Stage]:
    """Memories of a split and their scores."""
    those = task.data.splits[split]
    sessions = sum(len(one.sessions) for one in those)
    share = times if histories is None else histories / max(1, len(those))
    asked = QUESTIONS_PER_HISTORY * len(those)
    if task.program == "predictive" and task.options.get("verifier", "predictive") == "predictive":
        asked += QUESTIONS_PER_SESSION * sessions
    read = [tokens(record_text(one.sessions, task.data.tools)) for one in those]
    half = sum(read) / max(1, len(read)) / 2  # of a typical update
    size = CallSize(INSTRUCTIONS, round(half), WRITTEN)
    writing = round(share * sessions * CALLS_PER_SESSION)
    return [
        Stage(f"{name}: memories", round(share * len(those)), writing, size, PREFIXES),
        _questions(f"{name}: questions", round(share * asked)),
    ]


def _questions(name: str, number: int) -> Stage:
    return Stage(name, 0, number, QUESTION, max(1, number // 8))
