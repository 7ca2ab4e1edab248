"""`python -m eval.report DIR...`: the paper's tables and plots of one or more runs, as Markdown, CSV and PNG."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from eval.journal import read_lines, write_json, write_whole
from eval.run_config import FIRST_TASK
from eval.run_folder import read_config
from eval.tables import SCORERS, by_program
from eval.tasks.kinds import KINDS
from eval.tasks.task import Presentation
from prefine_dspy.errors import InputError, PrefineError

Record = dict[str, Any]
_COMPARABLE = (
    *("data_identity", "data_schema", "split", "instances_identity", "max_steps", "place_names"),
    *("lm", "memory_lm", "user_lm", "judge_lm"),
)
"""What two runs must have in common for their numbers to be compared without care."""
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Joined(NamedTuple):
    """The lines of several runs, programs named apart.

    Args:
        task: the benchmark that all of them are about.
        items, memories: all lines.
        sources: one line of text a run: what it was.
        warnings: why the runs may not be comparable.
    """

    task: str
    items: list[Record]
    memories: list[Record]
    sources: list[str]
    warnings: list[str]


@app.command()
def main(
    runs: Annotated[list[Path], typer.Argument(help="folders of eval.run")],
    out: Annotated[str | None, typer.Option(help="where to write [default: <first run>/report]")] = None,
    scorer: Annotated[Literal["strict", "reference", "both"], typer.Option(help="whose scores to print")] = "both",
) -> None:
    """Print and write the tables and the plots."""
    target = runs[0] / "report" if out is None else Path(out)
    try:
        if out is not None and not out.strip():
            raise InputError("--out is empty: name a folder, or leave it out for <first run>/report")
        joined, summary = read(runs)
        shown = _presentation(joined)
        target.mkdir(parents=True, exist_ok=True)
        text = "\n\n".join(
            [
                "\n".join(f"- {source}" for source in joined.sources),
                *(f"> warning: {warning}" for warning in joined.warnings),
                shown.text(summary, SCORERS if scorer == "both" else (scorer,)),
            ]
        )
        write_whole(target / "report.md", text + "\n")
        write_whole(target / "scores.csv", _csv(*shown.scores_csv(summary)))
        write_whole(target / "costs.csv", costs_csv(summary))
        write_json(target / "summary.json", summary)
        plots = shown.draw(summary, by_program(joined.memories), target, SCORERS[0] if scorer == "both" else scorer)
    except PrefineError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"error: cannot use {error.filename or target}: {error.strerror}; try --out ELSEWHERE", err=True)
        raise typer.Exit(2) from None
    typer.echo(text)
    names = ", ".join(["report.md", "scores.csv", "costs.csv", "summary.json", *(plot.name for plot in plots)])
    typer.echo(f"\nwritten to {target}: {names}")


def read(runs: list[Path]) -> tuple[Joined, Record]:
    """Runs side by side, and their summary.

    Raises:
        InputError: as `join`, or a record lacks what every run writes.
    """
    try:
        joined = join(runs)
        return joined, _presentation(joined).summarise(joined.items, joined.memories)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        names = ", ".join(str(folder) for folder in runs)
        raise InputError(
            f"{names}: a file there is not as eval.run writes it ({type(error).__name__}: {error}): run it again "
            "with a new --out"
        ) from None


def join(folders: list[Path]) -> Joined:
    """Read runs and put them side by side. When two runs have a program in common, all are named with their folder.

    Raises:
        InputError: a folder holds no run, or a run without a finished item, or is given twice, or the runs are about
            different benchmarks.
    """
    identities: dict[str, Any] = {}
    documents = [_config(folder) for folder in folders]
    joined = Joined(_task(folders, documents), [], [], [], [])
    labels = [program["label"] for document in documents for program in document["config"]["programs"]]
    twice = len(set(labels)) < len(labels)
    names = _names(folders)
    for folder, document in zip(folders, documents, strict=True):
        items, memories = read_lines(folder / "items.jsonl"), read_lines(folder / "memories.jsonl")
        if not items:
            raise InputError(f"{folder} has no finished item yet: continue it with python -m eval.run ... --resume")
        config = document["config"]
        joined.sources.append(_source(folder, document, items))
        expected = config["instances"] * len(config["programs"])
        if len(items) < expected:
            joined.warnings.append(f"{folder} is not finished: {len(items)} of {expected} items")
        for key in _COMPARABLE:
            if identities.setdefault(key, config.get(key)) != config.get(key):
                joined.warnings.append(f"{folder} and {folders[0]} differ in {key}: compare their numbers with care")
        for label in by_program(items):
            name = f"{label} ({names[folder]})" if twice else label
            joined.items.extend({**one, "program": name} for one in items if one["program"] == label)
            joined.memories.extend({**one, "program": name} for one in memories if one["program"] == label)
    return joined


def _presentation(joined: Joined) -> Presentation:
    return KINDS[joined.task].presentation


def _task(folders: list[Path], documents: list[Record]) -> str:
    """The one benchmark that the runs are about."""
    pairs = zip(folders, documents, strict=True)
    tasks = {document["config"].get("task", FIRST_TASK): folder for folder, document in pairs}
    for task, folder in tasks.items():
        if task not in KINDS:
            raise InputError(f"{folder} is a run on {task!r}, which this version does not know: use a newer one")
    if len(tasks) > 1:
        kinds = ", ".join(f"{folder}: {task}" for task, folder in tasks.items())
        raise InputError(f"runs on different benchmarks have no table in common ({kinds}): report them one by one")
    return next(iter(tasks))


def _names(folders: list[Path]) -> dict[Path, str]:
    """The last part of each folder's path, or as many as it takes to tell them apart."""
    whole = {folder: folder.resolve().parts for folder in folders}
    if len(set(whole.values())) < len(folders):
        raise InputError(f"the same run is given twice: {', '.join(map(str, folders))}")
    for depth in range(1, max(map(len, whole.values())) + 1):
        names = {folder: "/".join(parts[-depth:]) for folder, parts in whole.items()}
        if len(set(names.values())) == len(folders):
            break
    return names


def _config(folder: Path) -> Record:
    document = read_config(folder) if folder.is_dir() else None
    if document is None:
        raise InputError(f"{folder} holds no run: give a folder that `python -m eval.run --out` wrote")
    return document


def _source(folder: Path, document: Record, items: list[Record]) -> str:
    config, origin = document["config"], document.get("provenance", {})
    memory_lm = "" if config["memory_lm"] == config["lm"] else f", memories by {config['memory_lm']['model']}"
    playing = {"user": config.get("user_lm"), "judge": config.get("judge_lm")}
    played = "".join(f", {role} {lm['model']}" for role, lm in playing.items() if lm)
    return (
        f"`{folder}`: {config['data']} ({config['instances']} instances, {len(items)} items), LM "
        f"{config['lm']['model']}{memory_lm}{played}, commit {origin.get('commit')}, `{origin.get('command')}`"
    )


def costs_csv(summary: Record) -> str:
    """One line for each program."""
    names = list(dict.fromkeys(name for program in summary["programs"].values() for name in program["cost"]))
    rows = [[label, *(program["cost"].get(name) for name in names)] for label, program in summary["programs"].items()]
    return _csv(["program", *names], rows)


def _csv(header: list[str], rows: list[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return text.getvalue()


if __name__ == "__main__":
    app()
