"""Figures before and after compiling, as the manifest keeps them and as people read them."""

from __future__ import annotations

from eval.metrics.statistics import Difference, Interval
from prefine_dspy.manifest import Figure, Scores


def figure_of(one: Interval | Difference) -> Figure:
    """For the manifest."""
    p = round(one.p, 4) if isinstance(one, Difference) else None
    return Figure(value=round(one.value, 4), low=round(one.low, 4), high=round(one.high, 4), n=one.n, p=p)


def table(scores: dict[str, Scores]) -> str:
    """For people: percentages with intervals."""
    lines = [f"{'split':<7}{'figure':<9}{'n':>5}  {'before':<22}{'after':<22}difference"]
    for split, one in scores.items():
        for name in one.before or one.after:
            cells = [one.before.get(name), one.after.get(name), one.difference.get(name)]
            n = next((cell.n for cell in cells if cell), 0)
            if n:
                p = f"  p {cells[2].p:.2f}" if cells[2] and cells[2].p is not None else ""
                title = name.replace("_", "-").upper()
                lines.append(f"{split:<7}{title:<9}{n:>5}  {_cell(cells[0])}{_cell(cells[1])}{_cell(cells[2])}{p}")
    return "\n".join(lines)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return f"{'-':<22}"
    text = f"{100 * figure.value:.1f} [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
    return f"{text:<22}"
