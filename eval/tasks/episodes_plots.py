"""The plots of a report on episodes, as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval.plots import grouped_bars, save
from eval.tasks.task import Record, Summary


def draw(summary: Summary, memories: dict[str, list[Record]], folder: Path, scorer: str = "strict") -> list[Path]:
    """Draw what there is data for; returns the files written.

    Args:
        summary: of `eval.tasks.episodes_tables.summarise`.
        memories: none.
        folder: must exist.
        scorer: makes no difference: rewards are the environments' own.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    drawn = [_prompt_tokens(summary, folder / "prompt_tokens.png"), _by_group(summary, folder / "reward_by_group.png")]
    return [path for path in drawn if path is not None]


def _prompt_tokens(summary: Summary, path: Path) -> Path | None:
    """How a prompt grows over the steps of an episode."""
    lines = {label: one["prompt_tokens"] for label, one in summary["programs"].items() if one["prompt_tokens"]}

    def plot(axes: Any, lines: dict[str, list[dict[str, float]]]) -> None:
        for label, points in lines.items():
            steps, tokens = [point["step"] for point in points], [point["tokens"] for point in points]
            axes.plot(steps, tokens, marker="o", markersize=3, label=label)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("step")
        axes.set_ylabel("prompt tokens / LM call")

    return save({"": lines} if lines else {}, path, plot)


def _by_group(summary: Summary, path: Path) -> Path | None:
    found = {label: one["groups"] for label, one in summary["programs"].items() if one["groups"]}
    names = list(dict.fromkeys(name for groups in found.values() for name in groups))
    bars = {label: [groups.get(name, {}).get("reward") for name in names] for label, groups in found.items()}

    def plot(axes: Any, data: dict[str, list[Any]]) -> None:
        grouped_bars(axes, data, names, "mean reward, %")
        axes.tick_params("x", labelrotation=20, labelsize=8)

    return save({"": bars} if bars else {}, path, plot)
