"""The numbers of a run on episodes, from its item lines: `eval.run` and `eval.report` both take them from here.

A figure is the mean over tasks of a task's mean over its trials, as a cell `{"value", "low", "high", "n"}` with a 95%
bootstrap interval over tasks, n the number of tasks. Shares are in percent, all others in their own unit. Programs are
compared with the first one, on the tasks that both played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from eval.costs import answer_cost
from eval.metrics.episode_figures import EpisodeFigures
from eval.metrics.episodes import MEANS, Outcome, task_difference, task_interval
from eval.metrics.episodes import summary as summary_of
from eval.metrics.statistics import Difference, Interval
from eval.run_config import SCHEMA_VERSION
from eval.tables import by_program, failed_share
from eval.tasks.episodes_record import STATUSES, outcome_in
from eval.tasks.means import Cell
from eval.tasks.task import Record, Summary

SHARES = ("score", "cer", "ber", "active_pe", "passive_pe", "rubrics")
"""Figures of single benchmarks, between 0 and 1."""
COMPARED: dict[str, Callable[[EpisodeFigures], float | int | None]] = {
    "reward": lambda figures: figures.reward,
    "success": lambda figures: float(figures.success),
    **{
        name: MEANS[name]
        for name in (*SHARES, "turns", "asked", "tool_calls", "lm_calls", "prompt_tokens_per_call", "tokens_per_turn")
    },
}
"""Figures whose paired differences are told, by name."""
_IN_PERCENT = ("reward", "success", *SHARES)
_RARE = 0.1  # steps that fewer episodes reach say more about these episodes than about the program


def summarise(items: Sequence[Record], memories: Sequence[Record] = ()) -> Summary:
    """What `summary.json` holds, and every report is made of.

    Args:
        items: of one or more runs; programs of several runs are called `label (run)`.
        memories: none: agents are given what their environments remember.
    """
    grouped = by_program(items)
    outcomes = {label: [outcome_in(one) for one in records] for label, records in grouped.items()}
    first = next(iter(outcomes), "")
    return {
        "v": SCHEMA_VERSION,
        "items": len(items),
        "failed_share": failed_share(items),
        "failed_update_share": failed_share(memories),
        "programs": {label: program_row(records, outcomes[label]) for label, records in grouped.items()},
        "deltas": {label: {first: deltas(of, outcomes[first])} for label, of in outcomes.items() if label != first},
    }


def program_row(items: Sequence[Record], outcomes: Sequence[Outcome]) -> Record:
    """All about one program."""
    found = summary_of(outcomes)
    statuses = Counter(one["status"] for one in items)
    return {
        "items": len(items),
        "statuses": {status: statuses[status] for status in STATUSES},
        "tasks": found.tasks,
        "trials": found.trials,
        "average": _percent(found.average),
        "pass_hat": {str(k): _percent(one) for k, one in found.pass_hat.items()},
        "pass_any": {str(k): _percent(one) for k, one in found.pass_any.items()},
        "means": {
            **{name: _percent(one) if name in SHARES else _plain(one) for name, one in found.means.items()},
            "seconds": _plain(_interval_of(items, lambda item: item["seconds"])),
        },
        "errors": {name: _percent(one) for name, one in found.errors.items()},
        "notes": notes(items),
        "groups": groups(outcomes),
        "terminations": dict(sorted(found.terminations.items())),
        "prompt_tokens": curve(items),
        "cost": answer_cost(items),
    }


def notes(items: Sequence[Record]) -> dict[str, Cell]:
    """By name, what agents noted, summed over an episode."""
    names = dict.fromkeys(name for one in items for name in one["notes"])

    def read(name: str) -> Callable[[Record], float]:
        return lambda item: item["notes"].get(name, 0)

    return {name: _plain(_interval_of(items, read(name))) for name in names}


def groups(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Cell]]:
    """By group of tasks: the mean reward, and what was asked for where the environment tells."""
    found: dict[str, dict[str, Cell]] = {}
    for name in dict.fromkeys(one.group for one in outcomes if one.group):
        of_group = summary_of([one for one in outcomes if one.group == name])
        found[name] = {"reward": _percent(of_group.average)}
        if "asked" in of_group.means:
            found[name]["asked"] = _plain(of_group.means["asked"])
    return found


def deltas(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> dict[str, Cell]:
    """Ours minus theirs, paired over tasks; figures that one side does not have are left out."""
    found = {name: task_difference(ours, theirs, read) for name, read in COMPARED.items()}
    return {name: _percent(one) if name in _IN_PERCENT else _plain(one) for name, one in found.items() if one.n}


def curve(items: Sequence[Record]) -> list[dict[str, float]]:
    """By step, the mean prompt tokens of an LM call of the agent, over the episodes that came so far; `step` counts
    from 1. It ends where less than a tenth of the episodes goes on."""
    rows = [one["prompt_tokens"] for one in items]
    found = []
    for step in range(max(map(len, rows), default=0)):
        known = [row[step] for row in rows if step < len(row) and row[step] is not None]
        if not known or len(known) < _RARE * len(rows):
            break
        found.append({"step": step + 1, "tokens": round(sum(known) / len(known), 2), "episodes": len(known)})
    return found


def score_rows(summary: Summary) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of scores.csv: one for each program and figure."""
    rows: list[list[Any]] = []
    for label, program in summary["programs"].items():
        cells = {
            "average": program["average"],
            **{f"pass^{k}": cell for k, cell in program["pass_hat"].items()},
            **{f"pass@{k}": cell for k, cell in program["pass_any"].items()},
            **program["means"],
            **{f"error: {name}": cell for name, cell in program["errors"].items()},
            **{f"note: {name}": cell for name, cell in program["notes"].items()},
            **{f"{figure} of {name}": cell for name, of in program["groups"].items() for figure, cell in of.items()},
        }
        rows += [[label, name, *(cell[key] for key in ("value", "low", "high", "n"))] for name, cell in cells.items()]
    return ["program", "figure", "value", "low", "high", "n"], rows


def _interval_of(items: Iterable[Record], read: Callable[[Record], float]) -> Interval:
    """A figure that only lines have, over tasks."""
    values: dict[tuple[str, str], list[float]] = {}
    for one in items:
        values.setdefault((one["environment"], one["task"]), []).append(float(read(one)))
    return task_interval([sum(each) / len(each) for each in values.values()])


def _percent(one: Interval | Difference) -> Cell:
    return _cell(one, 100)


def _plain(one: Interval | Difference) -> Cell:
    return _cell(one, 1)


def _cell(one: Interval | Difference, factor: int) -> Cell:
    value, low, high = (round(factor * each, 2) for each in (one.value, one.low, one.high))
    return {"value": value, "low": low, "high": high, "n": one.n}
