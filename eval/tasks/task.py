"""What the runner and the report ask of a benchmark; everything else about a run is the same for all of them.

A benchmark is worked on in phases (MPT: memories, then items; NLSI: items), a phase in groups, a group in units. One
worker walks a group in order, so that prompts that start alike follow each other and the LM's prefix cache is warm. A
unit is one line of a journal: it is finished when its line is on disk, and `--resume` does those that have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from eval.run_folder import RunFolder
from eval.tasks.attempt import RunGuard

Record = dict[str, Any]
Summary = dict[str, Any]


class Phase(NamedTuple):
    """Args:
    name: shown beside the progress, e.g. "items".
    unit: what is counted, e.g. "sessions".
    total, done: units of the phase; those that a former process finished.
    groups: each is given to one worker.
    run: finishes a group; calls its second argument after each unit, which may raise to end the work there.
    """

    name: str
    unit: str
    total: int
    done: int
    groups: Sequence[Any]
    run: Callable[[Any, Callable[[], None]], None]


class Task(Protocol):
    """One run's worth of a benchmark: its chosen instances, its programs and LMs.

    `phases` yields them one by one, each when the one before it is done. `summary` makes what summary.json holds from
    the journals of `folder`: at least "failed_share" and "failed_update_share" (0 to 1) and "programs".
    """

    def phases(self, folder: RunFolder, guard: RunGuard) -> Iterator[Phase]: ...

    def summary(self, folder: RunFolder) -> Summary: ...


class Slice(NamedTuple):
    """What was chosen of a benchmark.

    Args:
        config: those fields of `RunConfig` that say what was loaded and chosen.
        task: systems by label, the LM that answers, the LM that builds memories; by name, those of `lms` -> the work of
            the run.
        lms: which LMs beside these two this data asks, of the kind's `environment_lms`.
    """

    config: dict[str, Any]
    task: Callable[..., Task]
    lms: tuple[str, ...] = ()


class Presentation(NamedTuple):
    """How the results of a benchmark are computed and shown, from the lines of one or more runs.

    Args:
        summarise: item lines, memory lines -> summary.
        brief: what `eval.run` prints at its end.
        text: all tables of a summary, by these scorers, as Markdown.
        scores_csv: header and rows of scores.csv.
        draw: summary, memory lines by program, an existing folder, scorer -> the files drawn.
    """

    summarise: Callable[[Sequence[Record], Sequence[Record]], Summary]
    brief: Callable[[Summary], str]
    text: Callable[[Summary, Sequence[str]], str]
    scores_csv: Callable[[Summary], tuple[list[str], list[list[Any]]]]
    draw: Callable[[Summary, dict[str, list[Record]], Path, str], list[Path]]
