"""The summary of a run on NLSI as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eval.data.nlsi import REASONING_TYPES
from eval.markdown import cell_text, table, table_cost, table_statuses
from eval.tasks.nlsi_record import SCORERS
from eval.tasks.nlsi_tables import METRICS, SELECTION
from eval.tasks.task import Summary

Cell = dict[str, Any]

_INTERVALS = "95% bootstrap intervals over dialogues"


def table_scores(summary: Summary, scorer: str) -> Iterator[str]:
    """The metrics of programs and oracles, and how often answers came from tags (TAPS Tables 4 and 6)."""
    rows = []
    for label, program in summary["programs"].items():
        if program["scores"][scorer]["EM"]:
            tagged = (program["tagger"] or {}).get("tagged")
            rows.append(_score_row(label, program["scores"][scorer], tagged))
    for label, oracle in summary["oracles"].items():
        rows.append(_score_row(label, oracle["scores"][scorer], oracle["augmented"][scorer]))
    if rows:
        header = ["program", "n", *METRICS, "tagged"]
        yield f"**NLSI ({scorer} scorer, {_INTERVALS})**\n\n{table(header, rows)}"


def _score_row(label: str, scores: dict[str, Cell], tagged: Cell | None) -> list[str]:
    cells = [cell_text(scores[metric]) for metric in METRICS]
    return [label, str(scores["EM"]["n"]), *cells, f"{tagged['value']:.1f}%" if tagged else "–"]


def table_types(summary: Summary, scorer: str, metric: str) -> Iterator[str]:
    """One metric by reasoning type (TAPS Figures 2 and 9)."""
    found = {**summary["programs"], **summary["oracles"]}
    shown = [kind for kind in REASONING_TYPES if any(kind in one["by_type"][scorer] for one in found.values())]
    rows = [
        [label, *(cell_text(one["by_type"][scorer].get(kind, {}).get(metric)) for kind in shown)]
        for label, one in found.items()
        if one["by_type"][scorer]
    ]
    if rows:
        sizes = {
            kind: max(
                one["by_type"][scorer][kind]["F1"]["n"] for one in found.values() if kind in one["by_type"][scorer]
            )
            for kind in shown
        }
        header = ["program", *(f"{kind} (n={size})" for kind, size in sizes.items())]
        yield f"**{metric} by reasoning type ({scorer} scorer)**\n\n{table(header, rows)}"


def table_deltas(summary: Summary, scorer: str) -> Iterator[str]:
    """Paired differences to `interpret` and `ext_tag`."""
    rows = [
        [label, baseline, str(cells[scorer]["EM"]["n"]), *(cell_text(cells[scorer][m], signed=True) for m in METRICS)]
        for label, found in summary["deltas"].items()
        for baseline, cells in found.items()
        if cells[scorer]["EM"]
    ]
    if rows:
        header = ["program", "minus", "n", *(f"Δ{metric}" for metric in METRICS)]
        yield f"**Paired differences ({scorer} scorer, percent points)**\n\n{table(header, rows)}"


def table_uncertainty(summary: Summary, scorer: str) -> Iterator[str]:
    """Pearson's r between uncertainty and F1, by estimator (TAPS Table 8)."""
    rows = [
        [label, estimator, str(cell["n"]) if cell else "–", _correlation(cell)]
        for label, program in summary["programs"].items()
        for estimator, cell in program["uncertainty"][scorer].items()
    ]
    if rows:
        header = ["program", "estimator", "n", "Pearson's r with F1"]
        yield f"**Uncertainty of the first answer and its F1 ({scorer} scorer)**\n\n{table(header, rows)}"


def _correlation(cell: Cell | None) -> str:
    return f"{cell['value']:+.2f} [{cell['low']:+.2f}, {cell['high']:+.2f}]" if cell else "–"


def table_coverage(summary: Summary, scorer: str) -> Iterator[str]:
    """F1 and EM of the most certain instances."""
    rows = []
    for label, program in summary["programs"].items():
        points = program["coverage"][scorer]
        for metric in ("F1", "EM"):
            if points:
                rows.append([label, points[0]["estimator"], metric, *(f"{point[metric]:.1f}" for point in points)])
    if rows:
        points = next(one["coverage"][scorer] for one in summary["programs"].values() if one["coverage"][scorer])
        header = ["program", "sorted by", "metric", *(f"{point['coverage']:.0%}" for point in points)]
        yield f"**The most certain share of the instances ({scorer} scorer)**\n\n{table(header, rows)}"


def table_gate(summary: Summary) -> Iterator[str]:
    """How often programs that have a tagger used it."""
    rows = [
        [
            label,
            str(program["tagger"]["tagged"]["n"]),
            *(cell_text(program["tagger"][name]) for name in ("tagged", "saved")),
            f"{program['tagger']['calls']:.2f}",
        ]
        for label, program in summary["programs"].items()
        if program["tagger"]
    ]
    if rows:
        header = ["program", "n", "tagged", "not tagged, of those with instructions", "tagger calls / item"]
        yield f"**Use of the tagger, % of instances**\n\n{table(header, rows)}"


def table_selection(summary: Summary) -> Iterator[str]:
    """How well applicable instructions were selected (NLSI's first subtask)."""
    rows = [
        [label, str(program["selection"]["em"]["n"]), *(cell_text(program["selection"][name]) for name in SELECTION)]
        for label, program in summary["programs"].items()
        if program["selection"]
    ]
    if rows:
        header = ["program", "n", "EM", "F1", "precision", "recall"]
        yield f"**Selected instructions**\n\n{table(header, rows)}"


def table_errors(summary: Summary) -> Iterator[str]:
    """Share of instances with an error of each kind, and its relative change (TAPS Figures 3 and 7)."""
    found = {label: one["errors"] for label, one in summary["programs"].items() if one["errors"]}
    if not found:
        return
    kinds = list(next(iter(found.values())))
    rows = [[label, *(cell_text(cells[kind]) for kind in kinds)] for label, cells in found.items()]
    yield f"**Errors, % of instances that have one**\n\n{table(['program', *kinds], rows)}"
    changes = [
        [label, baseline, *("–" if change[kind] is None else f"{change[kind]:+.0%}" for kind in kinds)]
        for label, of in summary["error_changes"].items()
        for baseline, change in of.items()
    ]
    if changes:
        header = ["program", "relative to", *kinds]
        yield f"**Relative change of errors, same instances**\n\n{table(header, changes)}"


def report_text(summary: Summary, scorers: Sequence[str]) -> str:
    """All tables of a summary."""
    parts: list[str] = []
    for scorer in scorers:
        parts += table_scores(summary, scorer)
        for metric in ("F1", "EM length-checked", "EM"):
            parts += table_types(summary, scorer, metric)
        parts += [*table_deltas(summary, scorer), *table_uncertainty(summary, scorer), *table_coverage(summary, scorer)]
    parts += [*table_gate(summary), *table_selection(summary), *table_errors(summary)]
    return "\n\n".join([*parts, *table_cost(summary), *table_statuses(summary)])


def brief_text(summary: Summary) -> str:
    """What `eval.run` shows at its end."""
    parts = [part for scorer in SCORERS for part in table_scores(summary, scorer)]
    parts += [*table_types(summary, "strict", "F1"), *table_selection(summary)]
    return "\n\n".join([*parts, *table_cost(summary), *table_statuses(summary)])
