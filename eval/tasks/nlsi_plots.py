"""The plots of NLSI's report, as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval.plots import grouped_bars, save
from eval.tasks.task import Record, Summary


def draw(summary: Summary, memories: dict[str, list[Record]], folder: Path, scorer: str = "strict") -> list[Path]:
    """Draw what there is data for; returns the files written.

    Args:
        summary: of `eval.tasks.nlsi_tables.summarise`.
        memories: none: NLSI has no memories.
        folder: must exist.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    drawn = [
        _by_type(summary, folder / "f1_by_type.png", scorer),
        _coverage(summary, folder / "coverage.png", scorer),
    ]
    return [path for path in drawn if path is not None]


def _by_type(summary: Summary, path: Path, scorer: str) -> Path | None:
    found = {label: one["by_type"][scorer] for label, one in summary["programs"].items() if one["by_type"][scorer]}
    names = list(dict.fromkeys(kind for cells in found.values() for kind in cells))
    series = {label: [cells.get(name, {}).get("F1") for name in names] for label, cells in found.items()}

    def plot(axes: Any, data: dict[str, list[Any]]) -> None:
        grouped_bars(axes, data, names, "F1")
        axes.tick_params("x", labelrotation=20, labelsize=8)

    return save({"": series} if series else {}, path, plot)


def _coverage(summary: Summary, path: Path, scorer: str) -> Path | None:
    """F1 and EM over the share of instances that a program is most certain of."""
    curves = {
        label: program["coverage"][scorer]
        for label, program in summary["programs"].items()
        if program["coverage"][scorer]
    }
    panels = {metric: {label: (metric, points) for label, points in curves.items()} for metric in ("F1", "EM")}

    def plot(axes: Any, lines: dict[str, Any]) -> None:
        for label, (metric, points) in lines.items():
            shares = [100 * point["coverage"] for point in points]
            axes.plot(shares, [point[metric] for point in points], marker="o", markersize=3, label=label)
        axes.set_ylim(0, 100)
        axes.set_xlabel("most certain instances, %")

    return save(panels if curves else {}, path, plot)
