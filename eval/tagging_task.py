"""A tagger's work on instructions with gold tags: one phase, one LM call an instruction, one line of a journal each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import dspy

from eval.items import ItemGroup, ItemRunner, answered
from eval.metrics import tag_reference
from eval.metrics.tag_metrics import score_tags
from eval.run_folder import RunFolder
from eval.tagging_tables import FIGURES, summarise
from eval.tasks.attempt import Attempt, RunGuard
from eval.tasks.task import Phase, Record, Summary
from prefine_dspy.tagging import Tagged, Tagger, parse_tags, render_tags
from prefine_dspy.tools import Catalogue


class Instruction(NamedTuple):
    """Args:
    id: a hash over the text.
    text: the sentence.
    gold: it, with tags, in either form.
    """

    id: str
    text: str
    gold: str


def instructions(tags: Mapping[str, str], limit: int | None, seed: int) -> list[Instruction]:
    """The instructions in the file's order, or so many of them, drawn; smaller samples begin larger ones.

    Args:
        tags: gold tags by instruction.
        limit: how many; None for all.
        seed: of the draw.
    """
    found = [
        Instruction(sha256(text.encode("utf-8", "replace")).hexdigest()[:12], text, gold) for text, gold in tags.items()
    ]
    if limit is None:
        return found
    random.Random(seed).shuffle(found)
    return found[:limit]


@dataclass(frozen=True)
class TaggingTask:
    """A run's work.

    Args:
        label: the tagger, as it was asked for.
        tagger: it.
        instructions: the chosen ones.
        tools: the catalogue.
        lm: the LM that tags.
    """

    label: str
    tagger: Tagger
    instructions: Sequence[Instruction]
    tools: Catalogue
    lm: dspy.BaseLM

    def phases(self, folder: RunFolder, guard: RunGuard) -> Iterator[Phase]:
        """Items only."""
        items = ItemRunner(folder.items, self.lm, guard, self._ask, self._record)
        items.restore()
        yield items.phase([ItemGroup(self.label, self.tagger, [one]) for one in self.instructions])

    def summary(self, folder: RunFolder) -> Summary:
        """What `eval.tagging_tables` makes of the items."""
        return summarise(folder.items.read())

    def _ask(self, group: ItemGroup, item: Instruction) -> dspy.Prediction:
        prediction: dspy.Prediction = group.system(instruction=item.text, tools=self.tools)
        return prediction

    def _record(self, group: ItemGroup, item: Instruction, attempt: Attempt[dspy.Prediction]) -> Record:
        tagged = attempt.answer.tagged if attempt.answer is not None else None
        return {**record_of(item, tagged, attempt), "gold": item.gold}


def record_of(item: Instruction, tagged: Tagged | None, attempt: Attempt[dspy.Prediction]) -> Record:
    """What the journal holds of one answer between its id and its usage.

    Without tags (an LM error, an answer that is unreadable or was refused) the sentence counts as it is, since that is
    what an interpreter would read.
    """
    answer = answered(attempt.answer)
    text = item.text if tagged is None else render_tags(tagged)
    score = score_tags(item.gold, text)
    kinds = [problem["kind"] for problem in answer.problems if isinstance(problem, dict)]
    status = attempt.failure.status if attempt.failure else "parse_error" if answer.parse_failed else None
    refused = status is None and tagged is None
    return {
        "status": status or ("refused" if refused else "ok" if score.exact else "wrong"),
        "instruction": item.text,
        "text": text,
        "raw": answer.raw,
        "problems": answer.problems,
        "words_dropped": kinds.count("words_dropped"),
        "words_added": kinds.count("words_added"),
        "scores": {
            **{name: getattr(score, name) for name in FIGURES},
            "exact": float(score.exact),
            "actions_right": float(score.actions_right),
        },
        "call_scores": _call_scores(item.gold, tagged or Tagged(item.text)),
    }


def _call_scores(gold: str, tagged: Tagged) -> dict[str, Any] | None:
    """By the published call-level scorer, which reads bracket form; None for a pair that it cannot score."""
    wanted = gold if "[IN:" in gold else render_tags(parse_tags(gold).tagged, "bracket")
    try:
        scores = tag_reference.score_tags(wanted, render_tags(tagged, "bracket"))
    except tag_reference.Unscorable:
        return None
    return {name: scores[name] for name in ("em", *FIGURES)}
