"""Where a program gains and where it does not: one row a stratum, one column a program, and what each differs from the
run's first program on the same queries.

Strata overlap: a query is context-guided or context-free, of one reasoning type, of a contested history or not, and so
on. "drifting" are users who changed (`eval.data.drift`), kept out of "contested"; "unseen schema" are functions that no
history holds (`--schema both`). One command makes the ablation of predictive verification; each program once more as
NAME@FOLDER for what `programs.compile` made of it:

    python -m eval.run --lm local --data DIR --schema both --out runs/ablation --program full_history \\
        --program prefine:K=1 --program prefine:K=3 --program prefine:K=5 \\
        --program predictive:caller=plain --program predictive:verifier=llm --program predictive
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eval.instance import Evidence
from eval.markdown import cell_text, table
from eval.metrics.interference import interference, quintiles
from eval.metrics.statistics import Difference, Interval, bootstrap, paired_difference
from eval.tables import SCORERS, by_program, item_score, percent

Record = dict[str, Any]
Cell = dict[str, Any]

STRATA: dict[str, Callable[[Record], bool]] = {
    "all": lambda item: _base(item) and not _drifting(item),
    "context-guided": lambda item: _base(item) and not _drifting(item) and item["query_type"] == "cg",
    "context-free": lambda item: _base(item) and not _drifting(item) and item["query_type"] == "cf",
    "Recall": lambda item: _base(item) and not _drifting(item) and item["reasoning_type"] == "recall",
    "Induction": lambda item: _base(item) and not _drifting(item) and item["reasoning_type"] == "induction",
    "Transfer": lambda item: _base(item) and not _drifting(item) and item["reasoning_type"] == "transfer",
    "contested": lambda item: _base(item) and not _drifting(item) and bool(item.get("contested")),
    "not contested": lambda item: _base(item) and not _drifting(item) and not item.get("contested"),
    "unseen schema": lambda item: not _base(item) and not _drifting(item),
    "drifting": lambda item: _base(item) and _drifting(item),
}
QUINTILE = "interference Q{}"


def strata(items: Sequence[Record]) -> dict[str, Any]:
    """By scorer and program, the pooled O-F1 of each stratum, and its difference to that of the first program.

    Returns:
        `{"first": label, "cells": {scorer: {label: {stratum: {"O-F1": cell, "difference": cell}}}}}`, in percent;
        strata without items are left out.
    """
    grouped = by_program(items)
    if not grouped:
        return {"first": "", "cells": {}}
    first = next(iter(grouped))
    parts = {label: _parts(records) for label, records in grouped.items()}
    return {
        "first": first,
        "cells": {
            scorer: {
                label: {
                    name: {
                        "O-F1": _score(chosen, scorer),
                        "difference": None
                        if label == first
                        else _difference(chosen, parts[first].get(name, []), scorer),
                    }
                    for name, chosen in parts[label].items()
                }
                for label in grouped
            }
            for scorer in SCORERS
        },
    }


def table_strata(summary: Record, scorer: str) -> Iterator[str]:
    """The table; without queries nothing."""
    found = summary["strata"]
    cells = found["cells"].get(scorer, {})
    names = list(dict.fromkeys(name for those in cells.values() for name in those))
    rows = []
    for name in names:
        row = [name, str(max((those[name]["O-F1"]["n"] for those in cells.values() if name in those), default=0))]
        for label, those in cells.items():
            row.append(cell_text(those.get(name, {}).get("O-F1")))
            if label != found["first"]:
                row.append(_difference_text(those.get(name, {}).get("difference")))
        rows.append(row)
    if rows:
        header = ["queries", "n"]
        for label in cells:
            header += [label] if label == found["first"] else [label, "Δ, p"]
        title = f"**O-F1 pooled by stratum, Δ to {found['first']} on the same queries (paired, {scorer} scorer)**"
        yield f"{title}\n\n{table(header, rows)}"


def _difference_text(cell: Cell | None) -> str:
    return f"{cell_text(cell, signed=True)} p {cell['p']:.3f}" if cell else "–"


def _base(item: Record) -> bool:
    return bool(item["schema"] == "base")


def _drifting(item: Record) -> bool:
    return bool(item.get("changed_after"))


def _parts(items: Sequence[Record]) -> dict[str, list[Record]]:
    found = {name: [item for item in items if belongs(item)] for name, belongs in STRATA.items()}
    known = [item for item in found["all"] if item["evidence"]]
    values = [interference(Evidence.model_validate(item["evidence"])) for item in known]
    part = quintiles(values, [item["reasoning_type"] for item in known])
    for at in range(1, 6):
        found[QUINTILE.format(at)] = [item for item, own in zip(known, part, strict=True) if own == at]
    return {name: chosen for name, chosen in found.items() if chosen}


def _score(items: Sequence[Record], scorer: str) -> Cell:
    counts = [item_score(item, scorer).overall for item in items]
    return _cell(bootstrap(counts, clusters=[item["history_id"] for item in items]))


def _difference(ours: Sequence[Record], theirs: Sequence[Record], scorer: str) -> Cell | None:
    before = {item["id"]: item for item in theirs}
    pairs = [(item, before[item["id"]]) for item in ours if item["id"] in before]
    if not pairs:
        return None
    a, b = ([item_score(item, scorer).overall for item in side] for side in zip(*pairs, strict=True))
    found = paired_difference(a, b, clusters=[item["history_id"] for item, _ in pairs])
    return {**_cell(found), "p": round(found.p, 4)}


def _cell(found: Interval | Difference) -> Cell:
    return {"value": percent(found.value), "low": percent(found.low), "high": percent(found.high), "n": found.n}
