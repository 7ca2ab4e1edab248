"""The phase that every benchmark has: one answer for each item and program, scored and written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import dspy

from eval.journal import Journal
from eval.run_config import SCHEMA_VERSION
from eval.tasks.attempt import Attempt, RunGuard
from eval.tasks.task import Phase, Record
from prefine_dspy.types import ToolCall


class Item(Protocol):
    """Whatever a benchmark asks about."""

    @property
    def id(self) -> str: ...


class ItemGroup(NamedTuple):
    """Items that one program answers one after the other.

    Args:
        label: of the program in the run.
        system: the program.
        items: in order.
    """

    label: str
    system: Any
    items: Sequence[Any]


class ItemRunner:
    """Runs groups of items.

    Args:
        journal: items.jsonl.
        lm: the LM that answers.
        guard: of the run.
        ask: the program's prediction for one item of a group.
        record: what is written down of it between its id and its usage.
    """

    def __init__(
        self,
        journal: Journal,
        lm: dspy.BaseLM,
        guard: RunGuard,
        ask: Callable[[ItemGroup, Any], dspy.Prediction],
        record: Callable[[ItemGroup, Any, Attempt[dspy.Prediction]], Record],
    ) -> None:
        self.journal = journal
        self.lm = lm
        self.guard = guard
        self.ask = ask
        self.record = record
        self.done: set[tuple[str, str]] = set()

    def restore(self, void: Callable[[Record], bool] = lambda line: False) -> None:
        """Take over the items that a former process finished, without those to be asked again: a passing LM error, or
        one that `void` says rests on something that is made anew."""
        records = self.journal.read()
        kept = [one for one in records if not void(one) and not (one["error"] or {}).get("retry")]
        if len(kept) < len(records):
            self.journal.replace(kept)
        self.done = {(one["program"], one["id"]) for one in kept}

    def phase(self, groups: Sequence[ItemGroup]) -> Phase:
        """The groups as a phase of the run."""
        total = sum(len(group.items) for group in groups)
        return Phase("items", "items", total, len(self.done), groups, self.run)

    def run(self, group: ItemGroup, tick: Callable[[], None]) -> None:
        """Answer what is open of one group; `tick` is called after each item and may raise to end the work there."""
        with self.guard.asking(self.lm):
            for item in group.items:
                if (group.label, item.id) not in self.done:
                    self._item(group, item)
                    tick()

    def _item(self, group: ItemGroup, item: Any) -> None:
        attempt = self.guard.attempt(lambda: self.ask(group, item))
        self.journal.append(
            {
                "v": SCHEMA_VERSION,
                "program": group.label,
                "id": item.id,
                **self.record(group, item, attempt),
                "usage": attempt.usage.as_json(),
                "seconds": round(attempt.seconds, 4),
                "error": attempt.failure.as_json() if attempt.failure else None,
            }
        )
        self.guard.streak.record(attempt.failure)


class Answered(NamedTuple):
    """The parts of a prediction that every benchmark writes down; an exception left none of them.

    Args:
        calls: the calls; anything else in the prediction's list is left out.
        raw: the LM's own text.
        parse_failed: it could not be read.
        problems: why parts of the answer were dropped, if the program says so.
    """

    calls: list[ToolCall]
    raw: str
    parse_failed: bool
    problems: list[Any]


def answered(prediction: dspy.Prediction | None) -> Answered:
    """Read a prediction; programs may leave out or misspell any part of it."""
    if prediction is None:
        return Answered([], "", False, [])
    raw = getattr(prediction, "raw", "")
    found = getattr(prediction, "problems", None) or []
    return Answered(
        calls=calls_in(getattr(prediction, "calls", None)),
        raw=raw if isinstance(raw, str) else str(raw),
        parse_failed=bool(getattr(prediction, "parse_failed", False)),
        problems=[one._asdict() if hasattr(one, "_asdict") else str(one) for one in found],
    )


def calls_in(values: Any) -> list[ToolCall]:
    """The tool calls in a list; [] for anything else."""
    return [call for call in values or [] if isinstance(call, ToolCall)]
