"""The figures of a tagger's run, from its journal, with intervals over instructions (TAPS Table 7's figures)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from eval.costs import cost
from eval.markdown import cell_text, table
from eval.run_config import SCHEMA_VERSION
from eval.tables import failed_share
from eval.tasks.means import Cell, mean_cells
from eval.tasks.task import Record, Summary

FIGURES = ("f1", "precision", "recall")
_TITLES = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "exact": "wholly right",
    "actions_right": "functions right",
    "em": "EM",
}


def summarise(items: Sequence[Record]) -> Summary:
    """What summary.json holds.

    Args:
        items: the lines of the journal.

    Returns:
        `tokens` and `calls`: cells in percent, of all instructions by token and of those that the published call-level
        scorer can score; `statuses`: how many answers ended how, "refused" among them; `words`: words that answers
        dropped and added, and in how many instructions; `cost`: LM calls, tokens and seconds.
    """
    scorable = [one["call_scores"] for one in items if one["call_scores"]]
    names = (*FIGURES, "exact", "actions_right")
    return {
        "v": SCHEMA_VERSION,
        "items": len(items),
        "failed_share": failed_share(items),
        "statuses": dict(Counter(one["status"] for one in items)),
        "tokens": mean_cells({name: [one["scores"][name] for one in items] for name in names}),
        "calls": mean_cells({name: [one[name] for one in scorable] for name in ("em", *FIGURES)}),
        "words": {
            "dropped": sum(one["words_dropped"] for one in items),
            "added": sum(one["words_added"] for one in items),
            "instructions": sum(bool(one["words_dropped"] or one["words_added"]) for one in items),
        },
        "cost": {
            **{name: value for name, value in cost(items, []).items() if value is not None},
            "seconds_per_item": sum(one["seconds"] for one in items) / len(items) if items else 0.0,
        },
    }


def text_of(summary: Summary) -> str:
    """For people."""
    n, words, spent, calls = summary["items"], summary["words"], summary["cost"], summary["calls"]
    scorable = (calls["em"] or {"n": 0})["n"]
    ended = ", ".join(f"{count} {status}" for status, count in sorted(summary["statuses"].items()))
    return "\n\n".join(
        [
            f"**By token, macro (n={n}, 95% bootstrap intervals over instructions)**\n\n{_row(summary['tokens'])}",
            f"**As calls, by the published scorer (n={scorable}, {n - scorable} cannot be scored)**\n\n{_row(calls)}",
            f"{ended}; answers dropped {words['dropped']} words and added {words['added']}, in {words['instructions']} "
            "instructions",
            f"{spent['lm_calls']} LM calls; an instruction: {spent['input_tokens_per_item']:.0f} tokens in, "
            f"{spent['output_tokens_per_item']:.0f} out, {spent['lm_seconds_per_item']:.1f} s of LM, "
            f"{spent['seconds_per_item']:.1f} s",
        ]
    )


def _row(cells: dict[str, Cell | None]) -> str:
    row: list[Any] = [cell_text(cell) for cell in cells.values()]
    return table([_TITLES[name] for name in cells], [row])
