"""F1 over the share of corrupted tags, with intervals (TAPS Figure 11, with our numbers)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from eval.markdown import cell_text, table
from eval.tasks.means import mean_cell

Row = dict[str, Any]


class CorruptionScore(NamedTuple):
    """What one instance scored when a share of the tags was corrupted.

    Args:
        share: of corrupted tags, 0 to 1.
        seed: of the corruption.
        instance: its id.
        f1: 0 to 1.
    """

    share: float
    seed: int
    instance: str
    f1: float


def curve(scores: Iterable[CorruptionScore]) -> list[Row]:
    """The points of the curve, by rising share.

    An instance counts with its mean over the seeds, and instances are resampled for the interval: it says how the curve
    might differ on other instances, the means by seed how it differs with other corrupted tags.

    Returns:
        One row a share: `share`; `f1`, a cell `{"value", "low", "high", "n"}` in percent; `seeds`, the mean F1 in
        percent by seed.
    """
    by_share: dict[float, dict[int, dict[str, float]]] = {}
    for one in scores:
        by_share.setdefault(one.share, {}).setdefault(one.seed, {})[one.instance] = one.f1
    rows = []
    for share, by_seed in sorted(by_share.items()):
        by_instance: dict[str, list[float]] = {}
        for seed in sorted(by_seed):
            for instance, f1 in by_seed[seed].items():
                by_instance.setdefault(instance, []).append(f1)
        means = [sum(values) / len(values) for _, values in sorted(by_instance.items())]
        seeds = {seed: round(100 * sum(of.values()) / len(of), 2) for seed, of in sorted(by_seed.items())}
        rows.append({"share": share, "f1": mean_cell(means), "seeds": seeds})
    return rows


def curve_markdown(rows: Iterable[Row]) -> str:
    """The curve as a table."""
    lines = [
        [f"{100 * row['share']:g} %", cell_text(row["f1"]), _spread(row["seeds"]), str(row["f1"]["n"])] for row in rows
    ]
    return table(["corrupted tags", "F1", "by seed", "n"], lines)


def _spread(seeds: dict[int, float]) -> str:
    low, high = min(seeds.values()), max(seeds.values())
    return f"{low:.1f} to {high:.1f} ({len(seeds)})" if len(seeds) > 1 else f"{low:.1f}"
