"""The numbers of a run on NLSI, from its item lines: the one place that `eval.run` and `eval.report` take them from.

Figures are means over instances, in percent, as cells `{"value", "low", "high", "n"}` with a 95% bootstrap interval
over dialogues, of which some have several instances; correlations are between -1 and 1. Wherever two programs are
compared, it is on the instances that both answered, inside one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.costs import answer_cost
from eval.data.nlsi import REASONING_TYPES
from eval.run_config import SCHEMA_VERSION
from eval.tables import by_program, failed_share, statuses
from eval.tasks.means import Cell, correlation_cell, mean_cell, mean_cells
from eval.tasks.nlsi_errors import error_changes, error_shares
from eval.tasks.nlsi_oracle import Oracle, coverage_curve, dialogue_of, of_two_answers, of_two_programs
from eval.tasks.nlsi_record import SCORERS
from eval.tasks.task import Record, Summary

METRICS = {
    "EM": "em",
    "EM length-checked": "em_length_checked",
    "F1": "f1",
    "precision": "precision",
    "recall": "recall",
}
SELECTION = ("em", "f1", "precision", "recall")
BASELINES = ("interpret", "ext_tag")
"""What all others are compared with: instructions as they are, and tags always."""


def summarise(items: Sequence[Record], memories: Sequence[Record] = ()) -> Summary:
    """What `summary.json` holds, and every report is made of.

    Args:
        items: of one or more runs; programs of several runs are called `label (run)`.
        memories: none: NLSI has no memories.
    """
    grouped = by_program(items)
    scored = {label: [one for one in records if one["scores"]] for label, records in grouped.items()}
    errors = {label: error_shares(records) for label, records in scored.items() if records}
    return {
        "v": SCHEMA_VERSION,
        "items": len(items),
        "failed_share": failed_share(items),
        "failed_update_share": failed_share(memories),
        "programs": {
            label: {
                "items": len(records),
                "statuses": statuses(records),
                "scores": {scorer: table(scored[label], scorer) for scorer in SCORERS},
                "by_type": {scorer: by_type(scored[label], scorer) for scorer in SCORERS},
                "selection": selection(records),
                "tagger": tagger(records),
                "uncertainty": {scorer: correlations(scored[label], scorer) for scorer in SCORERS},
                "coverage": {scorer: coverage_curve(scored[label], scorer) for scorer in SCORERS},
                "errors": errors.get(label),
                "cost": answer_cost(records),
            }
            for label, records in grouped.items()
        },
        "oracles": {oracle.name: oracle_row(oracle) for oracle in oracles(scored)},
        "deltas": deltas(scored),
        "error_changes": {
            label: {baseline: error_changes(scored[label], scored[baseline]) for baseline in baselines(label, scored)}
            for label in errors
        },
    }


def table(items: Sequence[Record], scorer: str) -> dict[str, Cell | None]:
    """The mean of every metric."""
    columns = {title: [one["scores"][scorer][key] for one in items] for title, key in METRICS.items()}
    return mean_cells(columns, dialogues(items))


def dialogues(items: Sequence[Record]) -> list[str]:
    """By item, what it is resampled with."""
    return [dialogue_of(one) for one in items]


def by_type(items: Sequence[Record], scorer: str) -> dict[str, dict[str, Cell | None]]:
    """`table` by reasoning type, in the paper's order."""
    of_type = {kind: [one for one in items if one["reasoning_type"] == kind] for kind in REASONING_TYPES}
    return {kind: table(chosen, scorer) for kind, chosen in of_type.items() if chosen}


def selection(items: Sequence[Record]) -> dict[str, Cell | None] | None:
    """How well the applicable instructions were selected; None for programs that are given them."""
    if not any(one["selected"] is not None for one in items):
        return None
    found = [one for one in items if one["selection"]]
    return mean_cells({name: [one["selection"][name] for one in found] for name in SELECTION}, dialogues(found))


def tagger(items: Sequence[Record]) -> Record | None:
    """How often the tagger was used; None for programs that do not say.

    Returns:
        `tagged`: the share of instances that were answered from tags; `saved`: of those that have instructions, the
        share that was not; `calls`: tagger calls an instance, a number.
    """
    said = [one for one in items if one["tagged"] is not None]
    if not said:
        return None
    taggable = [one for one in said if one["instructions"]]
    return {
        "tagged": mean_cell([float(one["tagged"]) for one in said], dialogues(said)),
        "saved": mean_cell([float(not one["tagged"]) for one in taggable], dialogues(taggable)),
        "calls": sum(one["tagger_calls"] or 0 for one in said) / len(said),
    }


def correlations(items: Sequence[Record], scorer: str) -> dict[str, Cell | None]:
    """By estimator, Pearson's r between uncertainty and instance F1 (TAPS Table 8).

    The uncertainty is that of the first answer; so is the F1, where there are two.
    """
    measured = [one for one in items if one["uncertainty"]]
    names = dict.fromkeys(name for one in measured for name in one["uncertainty"])
    found = {}
    for name in names:
        chosen = [one for one in measured if name in one["uncertainty"]]
        f1 = [(one["first_scores"] or one["scores"])[scorer]["f1"] for one in chosen]
        found[name] = correlation_cell([one["uncertainty"][name] for one in chosen], f1, dialogues(chosen))
    return found


def oracles(scored: dict[str, list[Record]]) -> list[Oracle]:
    """Every oracle that the run allows: over programs without and with tags, and over a program's own two answers."""
    found = [
        of_two_programs(plain, tagged, scored[plain], scored[tagged])
        for plain in _labels("interpret", scored)
        for tagged in _labels("ext_tag", scored)
        if _run(plain) == _run(tagged)
    ]
    own = [of_two_answers(label, items) for label, items in scored.items()]
    return [one for one in (*found, *own) if one is not None and one.rows]


def oracle_row(oracle: Oracle) -> Record:
    """The oracle's figures: `scores`, `by_type` and `augmented` (the share of second answers), each by scorer."""
    found: Record = {"scores": {}, "by_type": {}, "augmented": {}}
    for scorer in SCORERS:
        choices = [oracle.choose(row, scorer) for row in oracle.rows]
        chosen = [
            {"reasoning_type": row.reasoning_type, "dialogue_id": row.dialogue, "scores": {scorer: choice.scores}}
            for row, choice in zip(oracle.rows, choices, strict=True)
        ]
        found["scores"][scorer] = table(chosen, scorer)
        found["by_type"][scorer] = by_type(chosen, scorer)
        found["augmented"][scorer] = mean_cell([float(choice.augmented) for choice in choices], dialogues(chosen))
    return found


def deltas(scored: dict[str, list[Record]]) -> dict[str, dict[str, dict[str, dict[str, Cell | None]]]]:
    """Each program minus each baseline of its run, paired: program, baseline, scorer, metric."""
    return {
        label: {
            baseline: {scorer: _deltas_of(scored[label], scored[baseline], scorer) for scorer in SCORERS}
            for baseline in baselines(label, scored)
        }
        for label, items in scored.items()
        if items
    }


def baselines(label: str, scored: dict[str, list[Record]]) -> list[str]:
    """The programs of the same run that this one is compared with: of each kind the plainest, never itself."""
    found = []
    for name in BASELINES:
        same_run = [one for one in _labels(name, scored) if _run(one) == _run(label)]
        if same_run:
            found.append(min(same_run, key=len))
    return [one for one in found if one != label]


def score_rows(summary: Summary) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of scores.csv: one for each program or oracle, scorer, reasoning type and metric."""
    rows = []
    for label, program in [*summary["programs"].items(), *summary["oracles"].items()]:
        for scorer in SCORERS:
            for kind, cells in {"all": program["scores"][scorer], **program["by_type"][scorer]}.items():
                for metric, cell in cells.items():
                    if cell:
                        rows.append(
                            [label, scorer, kind, metric, *(cell[key] for key in ("value", "low", "high", "n"))]
                        )
    return ["program", "scorer", "reasoning_type", "metric", "value", "low", "high", "n"], rows


def _deltas_of(ours: Sequence[Record], theirs: Sequence[Record], scorer: str) -> dict[str, Cell | None]:
    before = {one["id"]: one["scores"][scorer] for one in theirs}
    both = [one for one in ours if one["id"] in before]
    pairs = [(one["scores"][scorer], before[one["id"]]) for one in both]
    return mean_cells({title: [a[key] - b[key] for a, b in pairs] for title, key in METRICS.items()}, dialogues(both))


def _labels(system: str, scored: dict[str, list[Record]]) -> list[str]:
    """The labels under which a registered program is in the runs: with other options, compiled, in several runs."""
    return [label for label, items in scored.items() if items and items[0]["system"] == system]


def _run(label: str) -> str:
    """The run that a label is of: reports of several runs call programs `label (run)`."""
    return label.partition(" (")[2]
