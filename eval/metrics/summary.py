"""The figures of a set of scored items, in the paper's terms, as data and as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from eval.metrics.counts import Counts, ItemScore, pooled
from eval.metrics.statistics import RESAMPLES, Interval, bootstrap, figure

REASONING_TYPES = ("recall", "induction", "transfer")


class Summary(BaseModel):
    """Figures between 0 and 1 over a set of items.

    Args:
        n: items.
        overall, pref, nonpref: pooled counts (O-F1, IMP-F1, EXP-F1).
        o_f1, imp_f1, exp_f1: pooled F1 with bootstrap interval.
        o_f1_macro: mean of per-query O-F1 (appendix C.1).
        p_em: share of items whose preference arguments are all right, over all items.
        p_em_with_preference: the same over items whose gold has a preference argument.
        function_accuracy: share of items with the right function.
        abstention_rate: share of readable answers that fill nothing.
        parse_failure_rate: share of answers that could not be read.
        predicted_arguments, gold_arguments: filled and wanted arguments an item; more filled than wanted means
            invented arguments.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int
    overall: Counts
    pref: Counts
    nonpref: Counts
    o_f1: Interval
    imp_f1: Interval
    exp_f1: Interval
    o_f1_macro: float
    p_em: float
    p_em_with_preference: float | None
    function_accuracy: float
    abstention_rate: float
    parse_failure_rate: float
    predicted_arguments: float
    gold_arguments: float


def summarise(
    scores: Sequence[ItemScore], clusters: Sequence[str] | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> Summary:
    """Pool the items.

    Args:
        clusters: per item, its history: the unit that the intervals resample.
    """
    parts = {part: [getattr(score, part) for score in scores] for part in ("overall", "pref", "nonpref")}
    intervals = {
        part: bootstrap(counts, clusters=clusters, seed=seed, resamples=resamples) for part, counts in parts.items()
    }
    asked = [score.pref_exact_match for score in scores if score.gold_preferences]
    return Summary(
        n=len(scores),
        **{part: pooled(counts) for part, counts in parts.items()},
        o_f1=intervals["overall"],
        imp_f1=intervals["pref"],
        exp_f1=intervals["nonpref"],
        o_f1_macro=figure(parts["overall"], "macro"),
        p_em=_mean([score.pref_exact_match for score in scores]),
        p_em_with_preference=_mean(asked) if asked else None,
        function_accuracy=_mean([score.function_right for score in scores]),
        abstention_rate=_mean([score.abstained for score in scores]),
        parse_failure_rate=_mean([score.parse_failed for score in scores]),
        predicted_arguments=_mean([score.predicted_arguments for score in scores]),
        gold_arguments=_mean([score.gold_arguments for score in scores]),
    )


def table3_row(
    scores: Sequence[ItemScore],
    types: Sequence[str],
    clusters: Sequence[str] | None = None,
    part: str = "overall",
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """Pooled F1 by reasoning type and their unweighted mean ("avg"): one half of a row of the paper's Table 3.

    Args:
        types: per item, its reasoning type.
        part: "overall" (O-F1), "pref" (IMP-F1) or "nonpref" (EXP-F1).
    """
    counts: list[Counts] = [getattr(score, part) for score in scores]
    row: dict[str, Interval] = {}
    for one in [t for t in REASONING_TYPES if t in types] + sorted(set(types) - set(REASONING_TYPES)):
        chosen = [at for at, label in enumerate(types) if label == one]
        row[one] = bootstrap(
            [counts[at] for at in chosen],
            clusters=[clusters[at] for at in chosen] if clusters is not None else None,
            seed=seed,
            resamples=resamples,
        )
    row["avg"] = bootstrap(counts, "type_mean", types, clusters, seed=seed, resamples=resamples)
    return row


def summary_text(summary: Summary, settings: Mapping[str, str] | None = None) -> str:
    """A few lines for people, percentages with their intervals."""
    lines = [f"{key}: {value}" for key, value in (settings or {}).items()]
    lines.append(f"items: {summary.n}")
    for name, counts, interval in (
        ("O-F1", summary.overall, summary.o_f1),
        ("EXP-F1", summary.nonpref, summary.exp_f1),
        ("IMP-F1", summary.pref, summary.imp_f1),
    ):
        lines.append(
            f"{name:7}{_percent(interval.value)}  [{_percent(interval.low)}, {_percent(interval.high)}]"
            f"  P {_percent(counts.precision)}  R {_percent(counts.recall)}"
            f"  (tp {counts.tp}, fp {counts.fp}, fn {counts.fn})"
        )
    with_preference = summary.p_em_with_preference
    lines.append(
        f"P-EM   {_percent(summary.p_em)}"
        + (f"  ({_percent(with_preference)} where gold has a preference)" if with_preference is not None else "")
    )
    lines.append(f"per-query O-F1 {_percent(summary.o_f1_macro)}")
    lines.append(
        f"function right {_percent(summary.function_accuracy)}  abstained {_percent(summary.abstention_rate)}"
        f"  unreadable {_percent(summary.parse_failure_rate)}"
        f"  arguments an item {summary.predicted_arguments:.2f} (gold {summary.gold_arguments:.2f})"
    )
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:5.1f}"
