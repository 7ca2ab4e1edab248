"""The numbers of a run on MPT, from its item and memory lines: the one place that run and report take them from.

Figures of scores are percentages; a cell is `{"value", "low", "high", "n"}`, its bounds a 95% bootstrap interval over
histories, n the number of items. "avg" is the unweighted mean of the reasoning types (Table 3), "all" pools them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from eval.costs import cost
from eval.grading import STATUSES
from eval.instance import Evidence
from eval.metrics.counts import Counts, ItemScore
from eval.metrics.interference import interference, quintiles
from eval.metrics.statistics import Difference, Interval, Statistic, bootstrap, paired_difference
from eval.metrics.summary import Summary, table3_row
from eval.metrics.summary import summarise as summarise_scores
from eval.run_config import SCHEMA_VERSION

Record = dict[str, Any]
Cell = dict[str, Any]

SCORERS = ("strict", "reference")
QUERY_TYPES = ("cg", "cf")
REASONING_TYPES = ("recall", "induction", "transfer")
BASELINE = "full_history"
_PARTS = {"O-F1": "overall", "EXP-F1": "nonpref", "IMP-F1": "pref"}


def by_program(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records by program, in order of first appearance."""
    grouped: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        grouped[record["program"]].append(record)
    return dict(grouped)


def summarise(items: Sequence[Record], memories: Sequence[Record]) -> Record:
    """What `summary.json` holds, and every report is made of."""
    grouped, updates = by_program(items), by_program(memories)
    base = {label: [one for one in records if one["schema"] == "base"] for label, records in grouped.items()}
    unseen = {label: [one for one in records if one["schema"] == "extended"] for label, records in grouped.items()}
    return {
        "v": SCHEMA_VERSION,
        "items": len(items),
        "failed_share": failed_share(items),
        "failed_update_share": failed_share(memories),
        "programs": {
            label: {
                "items": len(records),
                "statuses": statuses(records),
                "scores": {scorer: scores(base[label], scorer) for scorer in SCORERS},
                "extended": {scorer: scores(unseen[label], scorer) for scorer in SCORERS},
                "competing": {scorer: competing(base[label], scorer) for scorer in SCORERS},
                "quintiles": {scorer: by_interference(base[label], scorer) for scorer in SCORERS},
                "cost": cost(records, updates.get(label, [])),
            }
            for label, records in grouped.items()
        },
        "deltas": deltas(base, "type_mean"),
        "extended_deltas": deltas(unseen, "pooled"),
    }


def failed_share(lines: Sequence[Record]) -> float:
    """The share of items or memory updates that ended in lm_error or parse_error, 0 to 1."""
    return sum(one["status"] in ("lm_error", "parse_error") for one in lines) / len(lines) if lines else 0.0


def statuses(items: Sequence[Record]) -> dict[str, int]:
    """How many items ended how."""
    counted = Counter(item["status"] for item in items)
    return {status: counted[status] for status in STATUSES}


def scores(items: Sequence[Record], scorer: str) -> dict[str, Record]:
    """By query type: F1 cells by reasoning type, and the rates over all of them."""
    found = {}
    for query in QUERY_TYPES:
        chosen = [item for item in items if item["query_type"] == query]
        if chosen:
            found[query] = _score_table(chosen, scorer)
    return found


def _score_table(items: Sequence[Record], scorer: str) -> Record:
    read = [item_score(item, scorer) for item in items]
    types, histories = [item["reasoning_type"] for item in items], [item["history_id"] for item in items]
    whole = summarise_scores(read, histories)
    table: Record = {}
    for metric, part in _PARTS.items():
        row = table3_row(read, types, histories, part)
        counts = [getattr(one, part) for one in read]
        row["all"] = bootstrap(counts, clusters=histories)
        asked = {kind for kind, one in zip(types, counts, strict=True) if any(one)}
        if asked:  # without a wanted or given argument there is no F1: EXP-F1 of context-free queries, usually
            asked |= {"avg", "all"}
        table[metric] = {
            column: _interval_cell(row[column]) if column in asked else None
            for column in (*REASONING_TYPES, "avg", "all")
        }
    return {**table, **_rates(whole)}


def _rates(whole: Summary) -> Record:
    rates = {
        "P-EM": whole.p_em,
        "P-EM where gold has a preference": whole.p_em_with_preference,
        "function accuracy": whole.function_accuracy,
        "abstained": whole.abstention_rate,
        "parse failures": whole.parse_failure_rate,
        "O-F1 per query": whole.o_f1_macro,
    }
    table: Record = {
        name: {"all": {"value": None if rate is None else percent(rate), "low": None, "high": None, "n": whole.n}}
        for name, rate in rates.items()
    }
    table["arguments"] = {"predicted": round(whole.predicted_arguments, 3), "gold": round(whole.gold_arguments, 3)}
    return table


def competing(items: Sequence[Record], scorer: str) -> dict[str, Cell]:
    """IMP-F1 of items with and without competing evidence in their history, where the evidence is known."""
    known = [item for item in items if item["evidence"]]
    split = {
        "C>0": [item for item in known if item["evidence"]["competing"] > 0],
        "C=0": [item for item in known if item["evidence"]["competing"] == 0],
    }
    return {name: _imp_f1(part, scorer) for name, part in split.items() if part}


def by_interference(items: Sequence[Record], scorer: str) -> dict[str, list[Cell | None]]:
    """IMP-F1 by reasoning type and quintile of interference, both query types together (section 7.1)."""
    known = [item for item in items if item["evidence"]]
    values = [interference(Evidence.model_validate(item["evidence"])) for item in known]
    part = quintiles(values, [item["reasoning_type"] for item in known])
    found: dict[str, list[Cell | None]] = {}
    for reasoning in REASONING_TYPES:
        cells = []
        for quintile in range(1, 6):
            chosen = [
                item
                for item, at in zip(known, part, strict=True)
                if at == quintile and item["reasoning_type"] == reasoning
            ]
            cells.append(_imp_f1(chosen, scorer) if chosen else None)
        if any(cells):
            found[reasoning] = cells
    return found


def _imp_f1(items: Sequence[Record], scorer: str) -> Cell:
    counts = [item_score(item, scorer).pref for item in items]
    return _interval_cell(bootstrap(counts, clusters=[item["history_id"] for item in items]))


def deltas(grouped: dict[str, list[Record]], statistic: Statistic) -> dict[str, dict[str, dict[str, Cell]]]:
    """O-F1 of each program minus that of `full_history` on the instances both answered: program, scorer, query."""
    found: dict[str, dict[str, dict[str, Cell]]] = {}
    for label in grouped:
        baseline = run_of(label, BASELINE)
        if baseline in grouped and baseline != label:
            found[label] = {
                scorer: _deltas_of(grouped[label], grouped[baseline], scorer, statistic) for scorer in SCORERS
            }
    return found


def run_of(label: str, program: str) -> str:
    """Another program's name in the run that a label is of: reports of several runs call them `label (run)`."""
    _, bracket, run = label.partition(" (")
    return program + bracket + run


def _deltas_of(ours: Sequence[Record], theirs: Sequence[Record], scorer: str, statistic: Statistic) -> dict[str, Cell]:
    found = {}
    before = {item["id"]: item for item in theirs}
    for query in QUERY_TYPES:
        pairs = [(item, before[item["id"]]) for item in ours if item["query_type"] == query and item["id"] in before]
        if pairs:
            a, b = ([item_score(item, scorer).overall for item in side] for side in zip(*pairs, strict=True))
            types, histories = ([item[key] for item, _ in pairs] for key in ("reasoning_type", "history_id"))
            difference = paired_difference(a, b, statistic, types, histories)
            found[query] = _interval_cell(difference)
    return found


def item_score(item: Record, scorer: str) -> ItemScore:
    """The score as it was written down."""
    record = item["scores"][scorer]
    parts = {part: Counts(*(record[part][key] for key in ("tp", "fp", "fn"))) for part in _PARTS.values()}
    return ItemScore(**{**{field: record[field] for field in ItemScore._fields if field not in parts}, **parts})


def _interval_cell(interval: Interval | Difference) -> Cell:
    return {
        "value": percent(interval.value),
        "low": percent(interval.low),
        "high": percent(interval.high),
        "n": interval.n,
    }


def percent(share: float) -> float:
    """As figures are written down."""
    return round(100 * share, 2)


def score_rows(summary: Record) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of scores.csv: one for each program, schema, scorer, query type, metric and column."""
    rows = []
    for label, program in summary["programs"].items():
        for schema, part in (("base", "scores"), ("extended", "extended")):
            for scorer, queries in program[part].items():
                for query, metrics in queries.items():
                    for metric, columns in metrics.items():
                        for column, cell in columns.items():
                            if isinstance(cell, dict) and cell["value"] is not None:
                                figures = [cell[key] for key in ("value", "low", "high", "n")]
                                rows.append([label, schema, scorer, query, metric, column, *figures])
    header = ["program", "schema", "scorer", "query", "metric", "column", "value", "low", "high", "n"]
    return header, rows
