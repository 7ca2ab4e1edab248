"""What a report on MPT says beside `eval.tables`: every difference to full-history prompting with its paired interval,
competing evidence by reasoning type (Figure 4), score and cost side by side (Tables 3 and 15), what was at work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eval import markdown, plots, tables
from eval.instance import Evidence
from eval.markdown import COLUMN_TITLES, QUERY_TITLES, cell_text, table
from eval.metrics.interference import interference, quintiles
from eval.metrics.statistics import paired_difference
from eval.tables import BASELINE, REASONING_TYPES, SCORERS, item_score, percent, run_of
from eval.tasks.mpt_strata import strata, table_strata

Record = dict[str, Any]
Cell = dict[str, Any]
Cells = dict[str, Cell | None]
Pair = tuple[Record, Record]

QUINTILES = ("Q1", "Q2", "Q3", "Q4", "Q5")
COMPETING = ("C=0", "C>0")
_AT_WORK = ("library", "version", "lm", "embedding", "dimensions", "k")


def summarise(items: Sequence[Record], memories: Sequence[Record]) -> Record:
    """`eval.tables.summarise`, with differences, competing evidence by type, strata, libraries and short retrievals."""
    base = tables.by_program([one for one in items if one["schema"] == "base"])
    return {
        **tables.summarise(items, memories),
        "differences": {
            label: {scorer: _differences(records, base[baseline], scorer) for scorer in SCORERS}
            for label, records in base.items()
            if (baseline := run_of(label, BASELINE)) in base and baseline != label
        },
        "competing_by_type": {
            label: {scorer: competing_by_type(records, scorer) for scorer in SCORERS} for label, records in base.items()
        },
        "strata": strata(items),
        "memory_systems": memory_systems(memories),
        "short_retrievals": short_retrievals(items),
    }


def memory_systems(memories: Sequence[Record]) -> dict[str, list[Record]]:
    """By program, what its updates say was at work: one entry, or several where it changed on the way."""
    found: dict[str, list[Record]] = {}
    for line in memories:
        book = line["attempts"][-1] if line.get("attempts") else None
        if isinstance(book, dict) and book.get("stage") == "write":
            at_work = {name: book.get(name) for name in _AT_WORK}
            known = found.setdefault(line["program"], [])
            # a session without turns asks no LM
            if not any({**at_work, "lm": at_work["lm"] or one["lm"]} == one for one in known):
                known.append(at_work)
    return found


def short_retrievals(items: Sequence[Record]) -> dict[str, int]:
    """By program with a library, the queries for which it gave fewer notes than k though there were more."""
    found: dict[str, int] = {}
    for one in items:
        if "retrieval" in one:
            found[one["program"]] = found.get(one["program"], 0) + (one["retrieval"].get("missing", 0) > 0)
    return found


def competing_by_type(items: Sequence[Record], scorer: str) -> dict[str, Cells]:
    """By reasoning type, IMP-F1 without and with competing evidence in the history."""
    found = {
        kind: tables.competing([one for one in items if one["reasoning_type"] == kind], scorer)
        for kind in REASONING_TYPES
    }
    return {kind: {name: cells.get(name) for name in COMPETING} for kind, cells in found.items() if cells}


def _differences(ours: Sequence[Record], theirs: Sequence[Record], scorer: str) -> Record:
    """On the instances that both answered: O-F1 by query and reasoning type, IMP-F1 by quintile and by competing
    evidence within each reasoning type."""
    before = {item["id"]: item for item in theirs}
    pairs = [(item, before[item["id"]]) for item in ours if item["id"] in before]
    o_f1 = {}
    for query in QUERY_TITLES:
        chosen = [pair for pair in pairs if pair[0]["query_type"] == query]
        if chosen:
            o_f1[query] = {kind: _difference(_of_type(chosen, kind), scorer, "overall") for kind in REASONING_TYPES}
    known = [pair for pair in pairs if pair[0]["evidence"]]
    values = [interference(Evidence.model_validate(item["evidence"])) for item, _ in known]
    part = quintiles(values, [item["reasoning_type"] for item, _ in known])
    by_quintile = {
        f"Q{at}": [pair for pair, own in zip(known, part, strict=True) if own == at]
        for at in range(1, len(QUINTILES) + 1)
    }
    by_evidence = {
        name: [pair for pair in known if (pair[0]["evidence"]["competing"] > 0) is (name == "C>0")]
        for name in COMPETING
    }
    return {
        "O-F1": o_f1,
        "quintiles": _cells(by_quintile, scorer),
        "competing": _cells(by_evidence, scorer),
    }


def _of_type(pairs: Sequence[Pair], kind: str) -> list[Pair]:
    return [pair for pair in pairs if pair[0]["reasoning_type"] == kind]


def _cells(groups: dict[str, list[Pair]], scorer: str) -> dict[str, Cells]:
    found = {
        kind: {name: _difference(_of_type(pairs, kind), scorer, "pref") for name, pairs in groups.items()}
        for kind in REASONING_TYPES
    }
    return {kind: cells for kind, cells in found.items() if any(cells.values())}


def _difference(pairs: Sequence[Pair], scorer: str, part: str) -> Cell | None:
    """Pooled F1 of ours minus theirs; histories are resampled, both sides together."""
    if not pairs:
        return None
    a, b = ([getattr(item_score(item, scorer), part) for item in side] for side in zip(*pairs, strict=True))
    found = paired_difference(a, b, clusters=[item["history_id"] for item, _ in pairs])
    return {"value": percent(found.value), "low": percent(found.low), "high": percent(found.high), "n": found.n}


def table_side_by_side(summary: Record, scorer: str) -> Iterator[str]:
    """Score and cost of each program in one row (the paper's Tables 3 and 15)."""
    rows = []
    for label, program in summary["programs"].items():
        row = [label]
        for query in QUERY_TITLES:
            scores = program["scores"][scorer].get(query)
            delta = summary["deltas"].get(label, {}).get(scorer, {}).get(query)
            row += [cell_text(scores["O-F1"]["avg"]) if scores else "–", cell_text(delta, signed=True)]
        cost = program["cost"]
        kinds = ("input_tokens_per_session", "embedding_tokens_per_session", "output_tokens_per_session")
        tokens = [cost.get(kind) for kind in kinds]
        total = sum(one or 0 for one in tokens) if any(one is not None for one in tokens) else None
        figures = [*tokens, total, cost.get("memory_tokens_per_item"), cost.get("lm_seconds_per_session")]
        rows.append(
            row + ["–" if one is None else f"{one:,.1f}" for one in [*figures, cost.get("lm_seconds_per_item")]]
        )
    if rows:
        header = ["program", *(f"{title}{what}" for title in QUERY_TITLES.values() for what in (" O-F1", " Δ"))]
        header += ["LM input / session", "embedding / session", "LM output / session", "tokens / session"]
        header += ["memory tokens / item", "LM s / session", "LM s / item"]
        yield f"**O-F1 (mean of types) and cost ({scorer} scorer, Δ to full_history)**\n\n{table(header, rows)}"


def table_differences(summary: Record, scorer: str) -> Iterator[str]:
    """O-F1 of each program minus that of full_history, by query and reasoning type."""
    rows = []
    for label, found in summary["differences"].items():
        for query, cells in found[scorer]["O-F1"].items():
            overall = summary["deltas"].get(label, {}).get(scorer, {}).get(query)
            shown = [cells[kind] for kind in REASONING_TYPES] + [overall]
            rows.append([label, QUERY_TITLES[query], *(cell_text(cell, signed=True) for cell in shown)])
    if rows:
        header = ["program", "queries", *(COLUMN_TITLES[kind] for kind in (*REASONING_TYPES, "avg"))]
        yield f"**O-F1 minus that of full_history (paired, {scorer} scorer)**\n\n{table(header, rows)}"


def table_quintile_differences(summary: Record, scorer: str) -> Iterator[str]:
    """IMP-F1 minus that of full_history by interference quintile (Figure 3b)."""
    title = f"IMP-F1 minus that of full_history by interference quintile (paired, {scorer} scorer)"
    yield from _table_by_type(title, QUINTILES, _differing(summary, scorer, "quintiles"), signed=True)


def table_competing(summary: Record, scorer: str) -> Iterator[str]:
    """IMP-F1 without and with competing evidence by reasoning type (Figure 4), and that minus full_history's."""
    found = {label: cells[scorer] for label, cells in summary["competing_by_type"].items()}
    yield from _table_by_type(f"IMP-F1 by competing evidence and reasoning type ({scorer} scorer)", COMPETING, found)
    title = f"IMP-F1 minus that of full_history by competing evidence (paired, {scorer} scorer)"
    yield from _table_by_type(title, COMPETING, _differing(summary, scorer, "competing"), signed=True)


def _differing(summary: Record, scorer: str, what: str) -> dict[str, dict[str, Cells]]:
    return {label: found[scorer][what] for label, found in summary["differences"].items()}


def _table_by_type(
    title: str, names: Sequence[str], found: dict[str, dict[str, Cells]], signed: bool = False
) -> Iterator[str]:
    """One row for each program and reasoning type."""
    rows = []
    for label, kinds in found.items():
        for kind, cells in kinds.items():
            shown = [cells[name] for name in names]
            n = " / ".join(str(cell["n"]) if cell else "0" for cell in shown)
            rows.append([label, COLUMN_TITLES[kind], n, *(cell_text(cell, signed=signed) for cell in shown)])
    if rows:
        yield f"**{title}**\n\n{table(['program', 'reasoning', 'n', *names], rows)}"


def table_at_work(summary: Record) -> Iterator[str]:
    """Which library wrote and retrieved the memories, with what."""
    short = summary["short_retrievals"]
    rows = [
        [label, *("–" if one[name] is None else str(one[name]) for name in _AT_WORK), str(short.get(label, "–"))]
        for label, found in summary["memory_systems"].items()
        for one in found
    ]
    if rows:
        header = ["program", "library", "version", "LM that wrote", "embedding model", "dimensions", "k"]
        header.append("queries given fewer notes than k")
        yield f"**Memory libraries at work**\n\n{table(header, rows)}"


def report_text(summary: Record, scorers: Sequence[str]) -> str:
    """All tables of a summary."""
    first: list[str] = []
    last: list[str] = []
    for scorer in scorers:
        first += [*table_side_by_side(summary, scorer), *table_differences(summary, scorer)]
        first += table_strata(summary, scorer)
        last += [*table_quintile_differences(summary, scorer), *table_competing(summary, scorer)]
    return "\n\n".join([*first, markdown.report_text(summary, scorers), *last, *table_at_work(summary)])


def brief_text(summary: Record) -> str:
    """What `eval.run` shows at its end."""
    return "\n\n".join([markdown.brief_text(summary), *table_at_work(summary)])


def draw(summary: Record, memories: dict[str, list[Record]], folder: Path, scorer: str = "strict") -> list[Path]:
    """The plots of `eval.plots`, and Figure 4."""
    panels: dict[str, dict[str, list[Cell | None]]] = {}
    for label, found in summary["competing_by_type"].items():
        for kind, cells in found[scorer].items():
            panels.setdefault(COLUMN_TITLES[kind], {})[label] = [cells[name] for name in COMPETING]
    path = folder / "f1_by_competing_evidence.png"
    drawn = plots.save(panels, path, lambda axes, bars: plots.grouped_bars(axes, bars, COMPETING, "IMP-F1"))
    return [*plots.draw(summary, memories, folder, scorer), *([drawn] if drawn else [])]
