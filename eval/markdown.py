"""A summary as Markdown tables: what all benchmarks show, and MPT's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Cell = dict[str, Any]
Summary = dict[str, Any]

QUERY_TITLES = {"cg": "context-guided", "cf": "context-free"}
COLUMNS = ("recall", "induction", "transfer", "avg")
COLUMN_TITLES = {"recall": "Recall", "induction": "Induction", "transfer": "Transfer", "avg": "Avg", "all": "all"}
COST_COLUMNS = {
    "sessions": "sessions",
    "input_tokens_per_session": "input tokens / session",
    "output_tokens_per_session": "output tokens / session",
    "evaluated_tokens_per_session": "tokens evaluated / session",
    "lm_calls_per_session": "LM calls / session",
    "lm_seconds_per_session": "LM seconds / session",
    "accepted_share": "accepted",
    "update_lm_errors": "updates lost to LM errors",
    "update_parse_failures": "unreadable answers in updates",
    "written_per_session": "entries written a session",
    "embedding_tokens_per_session": "embedding tokens a session",
    "library_failures": "failures inside the library",
    "memory_tokens_per_item": "memory tokens / item",
    "input_tokens_per_item": "input tokens / item",
    "output_tokens_per_item": "output tokens / item",
    "evaluated_tokens_per_item": "tokens evaluated / item",
    "prefix_cached_share": "prefix-cached input",
    "lm_calls_per_item": "LM calls / item",
    "lm_seconds_per_item": "LM seconds / item",
    "seconds_per_item": "seconds / item",
    "cost": "US$",
}
_SHARES = ("accepted_share", "prefix_cached_share")
_FAULTS = ("update_lm_errors", "update_parse_failures")  # shown when there are any


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns padded so that it reads well as text, too."""
    cells = [[text.replace("|", "\\|") for text in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def cell_text(cell: Cell | None, *, interval: bool = True, signed: bool = False) -> str:
    """`61.2 [55.0, 67.1]`; an en dash where there is nothing to measure."""
    if not cell or cell["value"] is None:
        return "–"
    value = f"{cell['value']:+.1f}" if signed else f"{cell['value']:.1f}"
    return f"{value} [{cell['low']:.1f}, {cell['high']:.1f}]" if interval and cell["low"] is not None else value


def table_3(summary: Summary, scorer: str) -> Iterator[str]:
    """O-F1 by query type and reasoning type, one table a query type (the paper's Table 3)."""
    for query, title in QUERY_TITLES.items():
        rows = []
        for label, program in summary["programs"].items():
            scores = program["scores"][scorer].get(query)
            if scores is None:
                continue
            o_f1 = scores["O-F1"]
            delta = summary["deltas"].get(label, {}).get(scorer, {}).get(query)
            rows.append(
                [label, str(scores["P-EM"]["all"]["n"])]
                + [cell_text(o_f1[column]) for column in COLUMNS]
                + [cell_text(delta, signed=True)]
            )
        if rows:
            header = ["program", "n", *(COLUMN_TITLES[c] for c in COLUMNS), "ΔAvg to full_history"]
            yield f"**O-F1, {title} queries ({scorer} scorer, 95% bootstrap intervals)**\n\n{table(header, rows)}"


def table_parts(summary: Summary, scorer: str) -> Iterator[str]:
    """EXP-F1, IMP-F1, P-EM and the rates beside O-F1, over all reasoning types."""
    metrics = ("O-F1", "EXP-F1", "IMP-F1", "P-EM", "function accuracy", "abstained", "parse failures")
    rows = []
    for label, program in summary["programs"].items():
        for query, scores in program["scores"][scorer].items():
            rows.append(
                [label, QUERY_TITLES[query], str(scores["P-EM"]["all"]["n"])]
                + [cell_text(scores[metric]["all"]) for metric in metrics]
                + [f"{scores['arguments']['predicted']:.2f} / {scores['arguments']['gold']:.2f}"]
            )
    if rows:
        header = ["program", "queries", "n", *metrics, "arguments (gold)"]
        header[-1] = "arguments per call, predicted / gold"
        yield f"**All reasoning types pooled ({scorer} scorer)**\n\n{table(header, rows)}"


def table_cost(summary: Summary) -> Iterator[str]:
    """Tokens, calls and seconds (the paper's Table 15 and Figure 9a)."""
    found = {key: [program["cost"].get(key) for program in summary["programs"].values()] for key in COST_COLUMNS}
    shown = [
        key
        for key, values in found.items()
        if (any(values) if key in _FAULTS else any(value is not None for value in values))
    ]
    rows = [
        [label, *(_number(key, program["cost"].get(key)) for key in shown)]
        for label, program in summary["programs"].items()
    ]
    yield f"**Cost**\n\n{table(['program', *(COST_COLUMNS[key] for key in shown)], rows)}"


def _number(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    if key in _SHARES:
        return f"{value:.0%}"
    if key == "cost":
        return f"{value:.4f}"
    return str(value) if isinstance(value, int) else f"{value:,.2f}"


def table_extended(summary: Summary, scorer: str) -> Iterator[str]:
    """O-F1 on functions that no history holds (the paper's Table 5, appendix D.6)."""
    rows = []
    for label, program in summary["programs"].items():
        scores = program["extended"][scorer]
        if scores:
            deltas = summary["extended_deltas"].get(label, {}).get(scorer, {})
            row = [label]
            for query in QUERY_TITLES:
                cell = scores.get(query, {}).get("O-F1", {}).get("all")
                row += [str(cell["n"]) if cell else "0", cell_text(cell), cell_text(deltas.get(query), signed=True)]
            rows.append(row)
    if rows:
        header = ["program", "n (cg)", "context-guided", "Δ", "n (cf)", "context-free", "Δ"]
        yield f"**O-F1 on unseen functions ({scorer} scorer)**\n\n{table(header, rows)}"


def table_contested(summary: Summary, scorer: str) -> Iterator[str]:
    """IMP-F1 with and without competing evidence in the history (C > 0)."""
    rows = []
    for label, program in summary["programs"].items():
        split = program["competing"][scorer]
        for name in ("C>0", "C=0"):
            if name in split:
                rows.append([label, name, str(split[name]["n"]), cell_text(split[name])])
    if rows:
        header = ["program", "history", "n", "IMP-F1"]
        yield f"**IMP-F1 by competing evidence ({scorer} scorer)**\n\n{table(header, rows)}"


def table_quintiles(summary: Summary, scorer: str) -> Iterator[str]:
    """IMP-F1 by quintile of evidence interference, Q5 the most disturbed (section 7.1)."""
    rows = []
    for label, program in summary["programs"].items():
        for reasoning, cells in program["quintiles"][scorer].items():
            rows.append([label, COLUMN_TITLES[reasoning], *(cell_text(cell) for cell in cells)])
    if rows:
        header = ["program", "reasoning", "Q1", "Q2", "Q3", "Q4", "Q5"]
        yield f"**IMP-F1 by interference quintile ({scorer} scorer)**\n\n{table(header, rows)}"


def table_statuses(summary: Summary) -> Iterator[str]:
    """How the items ended."""
    names = list(next(iter(summary["programs"].values()))["statuses"]) if summary["programs"] else []
    rows = [
        [label, str(program["items"]), *(str(program["statuses"][name]) for name in names)]
        for label, program in summary["programs"].items()
    ]
    if rows:
        yield f"**How the items ended**\n\n{table(['program', 'items', *names], rows)}"


def report_text(summary: Summary, scorers: Sequence[str]) -> str:
    """All tables of a summary."""
    parts: list[str] = []
    for scorer in scorers:
        parts += [*table_3(summary, scorer), *table_parts(summary, scorer), *table_extended(summary, scorer)]
        parts += [*table_contested(summary, scorer), *table_quintiles(summary, scorer)]
    return "\n\n".join([*parts, *table_cost(summary), *table_statuses(summary)])


def brief_text(summary: Summary) -> str:
    """What `eval.run` shows at its end."""
    parts = [*table_3(summary, "strict"), *table_parts(summary, "strict"), *table_extended(summary, "strict")]
    return "\n\n".join([*parts, *table_cost(summary), *table_statuses(summary)])
