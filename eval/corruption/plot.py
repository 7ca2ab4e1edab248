"""The curve of the corruption study as a PNG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.corruption.curve import Row
from eval.plots import save


def draw_curve(curves: Mapping[str, Sequence[Row]], path: Path) -> Path | None:
    """Draw F1 with its interval over the share of corrupted tags; returns the file, or None without any point.

    Args:
        curves: rows of `curve` by label (a strategy, a program, an LM).
        path: of the PNG file; its folder must exist.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    shown = {label: rows for label, rows in curves.items() if rows}

    def plot(axes: Any, lines: dict[str, Sequence[Row]]) -> None:
        for label, rows in lines.items():
            shares = [100 * row["share"] for row in rows]
            axes.plot(shares, [row["f1"]["value"] for row in rows], marker="o", markersize=3, label=label)
            axes.fill_between(
                shares, [row["f1"]["low"] for row in rows], [row["f1"]["high"] for row in rows], alpha=0.2
            )
        axes.set_ylim(0, 100)
        axes.set_xlabel("corrupted tags, %")
        axes.set_ylabel("F1")

    return save({"": shown} if shown else {}, path, plot)
