"""Compiling a tagger alone: its examples and scores are instructions with gold tags, not requests.

Gold tags are published for the train and validation splits only, so nothing is scored on test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import dspy

from eval.compiling.nlsi import NlsiTask
from eval.compiling.nlsi_scores import before_and_after
from eval.metrics.tag_metrics import score_tags
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.manifest import Scores
from programs.compilation.job import Job
from programs.compilation.optimizers import SEARCHING


class TagItem(NamedTuple):
    """One instruction: whether its tags are wholly right, and the token-level figures of `eval.metrics.tag_metrics`."""

    em: float
    f1: float
    precision: float
    recall: float


@dataclass
class TaggerTask(NlsiTask):
    """See `NlsiTask`; `program` is "tagger"."""

    main_figure: str = "f1"

    def job(self, part: str, program: Any, optimizer: str) -> Job:
        """See `Task.job`.

        Raises:
            InputError: there are no gold tags to demonstrate or, for a search, to choose by.
        """
        for split in ("train", "dev") if optimizer in SEARCHING else ("train",):
            if not self._tagged(split):
                raise InputError(
                    f"{self.source.name} has no gold tags of its {split} instructions: give them with --tags FILE.csv"
                )
        return super().job(part, program, optimizer)

    def item_scores(self, program: Any, split: str, tick: Callable[[], None] = lambda: None) -> list[TagItem]:  # type: ignore[override]
        """One score an instruction that has gold tags; an answer that failed leaves it without tags."""
        scores = []
        for text, gold in self._tagged(split):
            with dspy.context(lm=self.lm):
                try:
                    answer = program(instruction=text, tools=self.source.tools).text
                except PrefineError:
                    raise
                except Exception:
                    answer = text
            self.check()
            score = score_tags(gold, answer)
            scores.append(TagItem(float(score.exact), score.f1, score.precision, score.recall))
            tick()
        return scores

    def units(self, split: str) -> tuple[int, str]:
        """See `Task.units`."""
        return self.calls_of(split), "instructions"

    def compare(self, split: str, before: Sequence[Any] | None, after: Sequence[Any] | None) -> Scores:
        """Means, intervals over instructions."""
        return before_and_after(before, after, [text for text, _ in self._tagged(split)])

    def calls_of(self, split: str, sampling: bool = False) -> int:
        """One an instruction."""
        return len(self._tagged(split))

    def _tagged(self, split: str) -> list[tuple[str, str]]:
        one = self.source.splits[split]
        return [(text, one.tags[text]) for text in one.instructions if text in one.tags]
