"""`python -m eval.tagging`: score a tagger on instructions with gold tags.

    python -m eval.tagging --tagger optimized/tagger-nlsi --tags val_instructions_tag_golden.csv --lm local --out runs/t

Exit codes: 0 complete, 1 too many LM errors in a row, 2 bad input, 3 stopped by --max-calls, 130 interrupted. After 1,
3 and 130 (and after any kill) the same command with --resume goes on. Tags that are there already, of whatever tagger,
are scored by `python -m eval.score --task tags`.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.data.nlsi_catalogue import nlsi_catalogue
from eval.failures import LMErrorsInARowError
from eval.lms import load_lms
from eval.options import parse_program
from eval.run import BAD_INPUT, FAILED, INTERRUPTED, OUT_OF_BUDGET
from eval.run_config import LMConfig, ProgramConfig, RunConfig, fingerprint, identity_of
from eval.run_folder import RunFolder
from eval.runner import run
from eval.tagging_tables import text_of
from eval.tagging_task import TaggingTask, instructions
from prefine_dspy.errors import BudgetExhausted, InputError, PrefineError
from prefine_dspy.tagging import Tagger
from programs import compiled_options, load_system
from programs.compilation.nlsi_parts import module_at, tagger_part
from programs.tag_tables import identity, load_tags

TASK = "tags"
MODULE = "eval.tagging"
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    tagger: Annotated[
        str,
        typer.Option(help="tagger, tagger:form=inline, a compiled one, or a (compiled) program that has a tagger"),
    ],
    tags: Annotated[Path, typer.Option(help="CSV of gold tags (org,aug), in either form")],
    lm: Annotated[str, typer.Option(help="the LM that tags: local, local:<name>, openai/gpt-5-mini ...")],
    out: Annotated[Path, typer.Option(help="the run's folder")],
    limit: Annotated[int | None, typer.Option(min=1, help="instructions, drawn with --seed [default: all]")] = None,
    seed: Annotated[int, typer.Option(help="for the choice of --limit instructions")] = 0,
    resume: Annotated[bool, typer.Option(help="continue the run in --out; begins it when there is none")] = False,
    num_threads: Annotated[int, typer.Option(min=1, help="instructions worked on at once")] = 1,
    max_calls: Annotated[int | None, typer.Option(min=0, help="LM calls at most, over all resumptions")] = None,
) -> None:
    """Score a tagger on instructions with gold tags."""
    again = shlex.join(["python", "-m", MODULE, *sys.argv[1:], *([] if resume else ["--resume"])])
    try:
        task, config = prepare(tagger, tags, lm, limit, seed)
        with RunFolder(out, config, resume=resume, module=MODULE) as folder:
            summary = run(folder, task, num_threads=num_threads, max_calls=max_calls)
    except BudgetExhausted as stop:
        _stop(f"stopped: {stop}; go on with a larger one: {again}", OUT_OF_BUDGET)
    except LMErrorsInARowError as stop:
        _stop(f"stopped: {stop}; when the LM works again: {again}", FAILED)
    except (PrefineError, OSError) as error:
        _stop(f"error: {error}", BAD_INPUT)
    except KeyboardInterrupt:
        _stop(f"interrupted; what is done is kept. Continue with: {again}", INTERRUPTED)
    typer.echo(text_of(summary))
    typer.echo(f"\nwritten to {out}")


def prepare(name: str, tags: Path, lm_name: str, limit: int | None, seed: int) -> tuple[TaggingTask, RunConfig]:
    """The work and what decides its results.

    Raises:
        InputError: an unknown program, one without a tagger, a file that cannot be used, an unknown LM.
    """
    base, options = parse_program(name)
    tagger = tagger_of(base, options)
    chosen = instructions(load_tags(tags), limit, seed)
    if not chosen:
        raise InputError(f"{tags} holds no instruction: give a CSV with org and aug in every row")
    lm, _ = load_lms(lm_name, None)
    program = ProgramConfig(
        label=name, name=base, options=options, fingerprint=fingerprint(tagger, compiled_options(base))
    )
    asked = LMConfig.of(lm_name, lm)
    config = RunConfig(
        task=TASK,
        programs=[program],
        lm=asked,
        memory_lm=asked,
        data=tags.name,
        data_identity=identity(tags),
        limit=limit,
        seed=seed,
        instances=len(chosen),
        instances_identity=identity_of([one.id for one in chosen]),
    )
    return TaggingTask(name, tagger, chosen, nlsi_catalogue(), lm), config


def tagger_of(name: str, options: dict[str, Any]) -> Tagger:
    """The tagger of a program, as it was compiled.

    Raises:
        InputError: there is no such program, or it has none.
    """
    program = load_system(name, **options).program
    part = tagger_part(program)
    if part is None:
        raise InputError(f"{name} has no tagger: give --tagger tagger, or a compiled tagger, ext_tag or taps")
    tagger: Tagger = module_at(program, part.path)
    return tagger


def _stop(line: str, code: int) -> None:
    typer.echo(line, err=True)
    raise typer.Exit(code) from None


if __name__ == "__main__":
    app()
