"""`python -m eval.corruption`: corrupted tags as files, and the F1 curve of a run over them (TAPS section 5).

    python -m eval.corruption tags --tags gold.csv --out corrupted --share 0 --share 0.5 --share 1 --seed 0 --seed 1
    python -m eval.run --program ext_tag:tags=corrupted/all-050-0.csv --program ... --data nlsi --split validation ...
    python -m eval.corruption curve runs/corrupted

The first command prints the second.
"""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.corruption import STRATEGIES, CorruptionScore, corrupt, curve, curve_markdown, draw_curve
from eval.data.nlsi_catalogue import nlsi_catalogue
from eval.journal import read_lines
from prefine_dspy.errors import InputError, PrefineError
from prefine_dspy.tagging import Tagged, render_tags
from programs.tag_tables import fitting_tags

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_FILE = re.compile(r"(?P<strategy>[a-z_]+)-(?P<share>\d{3})-(?P<seed>\d+)\.csv")


@app.command()
def tags(
    tags: Annotated[Path, typer.Option(help="CSV of gold tags (org,aug)")],
    out: Annotated[Path, typer.Option(help="folder for one CSV a share and seed")],
    share: Annotated[list[float], typer.Option(min=0.0, max=1.0, help="of tags to corrupt; repeatable")],
    seed: Annotated[list[int] | None, typer.Option(min=0, help="repeatable [default: 0]")] = None,
    strategy: Annotated[str, typer.Option(help=", ".join(STRATEGIES))] = "all",
) -> None:
    """Write corrupted tags and print the run over them."""
    with _errors():
        if strategy not in STRATEGIES:
            raise InputError(f"no strategy {strategy!r}: use {', '.join(STRATEGIES)}")
        if odd := [one for one in share if abs(100 * one - round(100 * one)) > 1e-9]:
            raise InputError(f"--share {odd[0]}: files are named by whole percents: use {round(odd[0], 2)}")
        gold = fitting_tags(tags)
        out.mkdir(parents=True, exist_ok=True)
        programs = []
        for one in dict.fromkeys(share):
            for number in dict.fromkeys(seed or [0]):
                found = corrupt(gold, one, number, strategy, tools=nlsi_catalogue())
                file = out / f"{strategy}-{round(100 * one):03d}-{number}.csv"
                _write(file, found.tags)
                changed = sum(applied.changed for applied in found.applied)
                typer.echo(f"{file}: {changed} of {found.eligible} tags changed", err=True)
                programs.append(f"--program ext_tag:tags={shlex.quote(str(file))}")
        typer.echo(
            f"python -m eval.run {' '.join(programs)} --data nlsi --split validation --lm local --out runs/corrupted"
        )


@app.command("curve")
def show_curve(
    run: Annotated[Path, typer.Argument(help="folder of eval.run over files of the command `tags`")],
) -> None:
    """Print the curve of a run and draw it into its folder."""
    with _errors():
        scores: dict[str, list[CorruptionScore]] = {}
        for item in read_lines(run / "items.jsonl"):
            if match := _FILE.search(str(item.get("program"))):
                point = CorruptionScore(int(match["share"]) / 100, int(match["seed"]), str(item.get("id")), _f1(item))
                scores.setdefault(match["strategy"], []).append(point)
        if not scores:
            raise InputError(f"{run} holds no run over corrupted tags: make them with python -m eval.corruption tags")
        curves = {strategy: curve(points) for strategy, points in scores.items()}
        for strategy, rows in curves.items():
            typer.echo(f"**{strategy}**\n\n{curve_markdown(rows)}\n")
        typer.echo(f"drawn: {draw_curve(curves, run / 'corruption.png')}")


def _f1(item: dict[str, Any]) -> float:
    try:
        return float(item["scores"]["strict"]["f1"])
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"item {item.get('id')!r} has no F1: give the folder of a run of eval.run on NLSI, with ext_tag"
        ) from None


def _write(path: Path, tags: dict[str, Tagged]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["org", "aug"])
        writer.writerows([text, render_tags(tagged)] for text, tagged in tags.items())


class _errors:  # noqa: N801 - reads like a block
    """One clear line for what the user can mend."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, PrefineError | OSError):
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(2) from None


if __name__ == "__main__":
    app()
