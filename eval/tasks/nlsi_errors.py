"""Which errors the answers of a run hold, and how that differs between programs (TAPS Figures 3 and 7)."""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.error_categories import KINDS, PAPER_CATEGORIES, Kind, relative_change
from eval.tasks.means import Cell, mean_cells
from eval.tasks.nlsi_oracle import dialogue_of
from eval.tasks.task import Record

_IN_PAPER = {kind for kinds in PAPER_CATEGORIES.values() for kind in kinds}
COLUMNS: dict[str, tuple[Kind, ...]] = {
    **PAPER_CATEGORIES,
    **{kind.replace("_", " "): (kind,) for kind in KINDS if kind not in _IN_PAPER},
}
"""The paper's four categories, then the kinds of ours that it has no word for."""


def error_shares(items: Sequence[Record]) -> dict[str, Cell | None]:
    """By column, the share of items with at least one such error; an item may have several."""
    return mean_cells(
        {name: _has(items, kinds) for name, kinds in COLUMNS.items()}, [dialogue_of(one) for one in items]
    )


def error_changes(ours: Sequence[Record], theirs: Sequence[Record]) -> dict[str, float | None]:
    """By column, how much rarer (negative) or more frequent the errors are than in another program's answers to the
    same instances: -0.25 is a quarter fewer; None where the other has none."""
    both = {one["id"] for one in ours} & {one["id"] for one in theirs}
    before, after = (
        {name: float(sum(_has([one for one in items if one["id"] in both], kinds))) for name, kinds in COLUMNS.items()}
        for items in (theirs, ours)
    )
    return relative_change(before, after)


def _has(items: Sequence[Record], kinds: Sequence[Kind]) -> list[float]:
    return [float(any(one["error_kinds"].get(kind) for kind in kinds)) for one in items]
