"""The plots of MPT's report, as PNG files (the paper's Figures 3 and 9, with our numbers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eval.costs import over_sessions
from prefine_dspy.errors import MissingExtra

Record = dict[str, Any]
Cell = dict[str, Any]

_REASONING = {"recall": "Recall", "induction": "Induction", "transfer": "Transfer", "avg": "Avg"}
_QUERIES = {"cg": "context-guided", "cf": "context-free"}


def draw(summary: Record, memories: dict[str, list[Record]], folder: Path, scorer: str = "strict") -> list[Path]:
    """Draw what there is data for; returns the files written.

    Args:
        summary: of `eval.tables.summarise`.
        memories: memory lines by program.
        folder: must exist.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    drawn = [
        _by_reasoning(summary, folder / "f1_by_reasoning.png", scorer),
        _by_quintile(summary, folder / "f1_by_interference.png", scorer),
        _over_sessions(memories, folder / "memory_tokens.png", "memory_tokens", "memory tokens"),
        _over_sessions(memories, folder / "acceptance.png", "accepted", "accepted updates", top=1.05),
    ]
    return [path for path in drawn if path is not None]


def _by_reasoning(summary: Record, path: Path, scorer: str) -> Path | None:
    panels = {}
    for query, title in _QUERIES.items():
        bars = {
            label: [program["scores"][scorer][query]["O-F1"][column] for column in _REASONING]
            for label, program in summary["programs"].items()
            if query in program["scores"][scorer]
        }
        if bars:
            panels[f"{title} queries"] = bars
    return save(panels, path, lambda axes, bars: grouped_bars(axes, bars, list(_REASONING.values()), "O-F1"))


def _by_quintile(summary: Record, path: Path, scorer: str) -> Path | None:
    panels: dict[str, dict[str, list[Cell | None]]] = {}
    for label, program in summary["programs"].items():
        for reasoning, cells in program["quintiles"][scorer].items():
            panels.setdefault(_REASONING[reasoning], {})[label] = cells
    names = ["Q1", "Q2", "Q3", "Q4", "Q5"]
    return save(panels, path, lambda axes, lines: _lines_with_intervals(axes, lines, names, "IMP-F1"))


def _over_sessions(
    memories: dict[str, list[Record]], path: Path, key: str, title: str, top: float | None = None
) -> Path | None:
    lines = {label: over_sessions(updates, key) for label, updates in memories.items() if updates}

    def plot(axes: Any, lines: dict[str, list[float]]) -> None:
        for label, values in lines.items():
            axes.plot(range(1, len(values) + 1), values, marker="o", markersize=3, label=label)
        axes.set_ylim(bottom=0, top=top)
        axes.set_xlabel("session")
        axes.set_ylabel(title)

    return save({"": lines} if lines else {}, path, plot)


def save(panels: dict[str, Any], path: Path, plot: Callable[[Any, Any], None]) -> Path | None:
    """One figure with a panel each; None when there is nothing to show.

    Args:
        panels: data by title.
        path: of the PNG file.
        plot: draws a panel's data on its axes, with labels for the common legend.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    if not panels:
        return None
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("drawing plots", "eval") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(1, len(panels), figsize=(5 * len(panels), 3.6), squeeze=False)
    for axes, (title, data) in zip(grid[0], panels.items(), strict=True):
        plot(axes, data)
        axes.set_title(title, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="lower center", ncols=max(1, len(labels)))
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path


def grouped_bars(axes: Any, bars: dict[str, list[Cell | None]], names: Sequence[str], title: str) -> None:
    """Groups of bars with intervals, one group a name."""
    width = 0.8 / len(bars)
    for at, (label, cells) in enumerate(bars.items()):
        shown = [(x + at * width, cell) for x, cell in enumerate(cells) if cell]
        axes.bar(
            [x for x, _ in shown], [c["value"] for _, c in shown], width, yerr=_errors(shown), label=label, capsize=2
        )
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(names))], names)
    axes.set_ylim(0, 100)
    axes.set_ylabel(title)


def _lines_with_intervals(axes: Any, lines: dict[str, list[Cell | None]], names: Sequence[str], title: str) -> None:
    for at, (label, cells) in enumerate(lines.items()):
        aside = 0.08 * (at - (len(lines) - 1) / 2)  # so that error bars do not hide each other
        shown = [(x + aside, cell) for x, cell in enumerate(cells) if cell]
        values = [cell["value"] for _, cell in shown]
        axes.errorbar([x for x, _ in shown], values, yerr=_errors(shown), marker="o", capsize=2, label=label)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 100)
    axes.set_ylabel(title)


def _errors(shown: Sequence[tuple[float, Cell]]) -> list[list[float]]:
    """Lengths of the error bars; a percentile interval need not hold the value, so they are cut at 0."""
    return [
        [max(0.0, cell["value"] - cell["low"]) for _, cell in shown],
        [max(0.0, cell["high"] - cell["value"]) for _, cell in shown],
    ]
