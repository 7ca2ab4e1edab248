"""MPT's figures before and after compiling: pooled F1, on the same queries, with intervals over histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import dspy

from eval.compiling.scores import figure_of
from eval.data.load import catalogue_of
from eval.data.splits import Split
from eval.instance import Benchmark
from eval.metrics.counts import ItemScore
from eval.metrics.slots import score_item
from eval.metrics.statistics import bootstrap, paired_difference
from prefine_dspy.errors import PrefineError
from prefine_dspy.manifest import Figure, Scores
from prefine_dspy.types import History, Memory
from programs.system import System

# figure -> the counts that it pools
FIGURES = {"o_f1": "overall", "imp_f1": "pref", "exp_f1": "nonpref"}


class Harness(NamedTuple):
    """What it takes to answer queries.

    Args:
        benchmark: for catalogues and preference slots.
        lm, memory_lm: inference and memory LM.
        check: raises when the run has to end.
    """

    benchmark: Benchmark
    lm: dspy.BaseLM
    memory_lm: dspy.BaseLM
    check: Callable[[], None]

    def memory(self, system: System, history: History, tick: Callable[[], None] = lambda: None) -> Memory:
        """The memory after all sessions; a session whose update fails changes nothing. `tick` is called after each."""
        memory = Memory()
        if not system.builds_memory:
            return memory
        tools = self.benchmark.catalogues["base"]
        with dspy.context(lm=self.memory_lm):
            for seen in range(1, len(history.sessions) + 1):
                try:
                    memory = system.update(memory, history.sessions[:seen], tools).memory
                except PrefineError:
                    raise
                except Exception:
                    self.check()
                self.check()
                tick()
        return memory

    def item_scores(self, system: System, split: Split, tick: Callable[[], None] = lambda: None) -> list[ItemScore]:
        """One score a query of the split, in order. A query whose answer fails counts as unreadable. `tick` is called
        after each session and each query."""
        scores = []
        for history in split.histories:
            instances = split.of(history.id)
            memory = self.memory(system, history, tick) if instances else Memory()
            for instance in instances:
                tools = catalogue_of(self.benchmark, instance)
                calls, failed = [], True
                with dspy.context(lm=self.lm):
                    try:
                        answer = system.answer(instance.query, tools, history, memory)
                        calls, failed = list(answer.calls), bool(answer.parse_failed)
                    except PrefineError:
                        raise
                    except Exception:
                        self.check()
                self.check()
                slots = self.benchmark.preference_slots
                scores.append(score_item(instance.gold, calls, slots, parse_failed=failed, catalogue=tools))
                tick()
        return scores


def clusters(split: Split) -> list[str]:
    """By query of `item_scores`, its history."""
    return [instance.history_id for history in split.histories for instance in split.of(history.id)]


def figures(scores: Sequence[ItemScore], histories: Sequence[str]) -> dict[str, Figure]:
    """The pooled figures with intervals."""
    return {
        name: figure_of(bootstrap([getattr(score, part) for score in scores], clusters=histories))
        for name, part in FIGURES.items()
    }


def before_and_after(
    before: Sequence[ItemScore] | None, after: Sequence[ItemScore] | None, histories: Sequence[str]
) -> Scores:
    """Both, and their paired differences where both are there."""
    difference = {}
    if before and after:
        for name, part in FIGURES.items():
            counts = [[getattr(score, part) for score in scores] for scores in (after, before)]
            difference[name] = figure_of(paired_difference(counts[0], counts[1], clusters=histories))
    return Scores(
        before=figures(before, histories) if before else {},
        after=figures(after, histories) if after else {},
        difference=difference,
    )
