"""Tagged instructions from files: by token (strict), and call by call as TAPS published it (reference)."""

from __future__ import annotations

from typing import Any

from eval.metrics import tag_metrics, tag_reference
from eval.scoring.task import Id, Pairs, Scored, Settings, Task
from prefine_dspy.errors import InputError


def score_reference(pairs: Pairs, settings: Settings) -> Scored:
    """As published. A pair for which the published scorer raises gets `error`, and no place in the means."""
    items: list[dict[str, Any]] = []
    scores: list[dict[str, float]] = []
    for one, (gold, prediction) in pairs.items():
        try:
            scores.append(tag_reference.score_tags(_tagged(one, gold), _text(prediction)))
            items.append({"id": one, **scores[-1]})
        except tag_reference.Unscorable as error:
            items.append({"id": one, "error": str(error)})
    lines = [
        "scorer: reference (the published call-level scorer, which is not that of the paper's tagger table)",
        f"items: {len(items)}, of which {len(items) - len(scores)} cannot be scored and are left out",
    ]
    for prefix, name in (("", "triplets"), ("func_", "functions"), ("slot_", "slot names"), ("val_", "values")):
        em, f1, precision, recall = (
            100 * sum(score[prefix + figure] for score in scores) / len(scores) if scores else 0.0
            for figure in ("em", "f1", "precision", "recall")
        )
        lines.append(f"{name:11} EM {em:5.1f}  F1 {f1:5.1f}  P {precision:5.1f}  R {recall:5.1f}")
    return Scored(items, "\n".join(lines))


def score_strict(pairs: Pairs, settings: Settings) -> Scored:
    """Token-level macro F1, precision and recall; the definition is that of `eval.metrics.tag_metrics`."""
    scores = {
        one: tag_metrics.score_tags(_tagged(one, gold), _text(prediction)) for one, (gold, prediction) in pairs.items()
    }
    items = [
        {"id": one, **{name: value for name, value in score._asdict().items() if name != "counts"}}
        for one, score in scores.items()
    ]
    figures = tag_metrics.summarise_tags(list(scores.values()))
    lines = [
        "scorer: strict (tokens; mean over items of the macro average over slot names and O)",
        f"items: {figures.n}, of which {figures.misaligned} with changed words",
        _line("all", figures.f1, figures.precision, figures.recall),
        _line("words kept", figures.aligned_f1, figures.aligned_precision, figures.aligned_recall),
        f"corpus macro F1 {100 * figures.corpus_f1:5.1f}  micro F1 {100 * figures.micro_f1:5.1f}"
        f"  actions right {100 * figures.actions_right:5.1f}",
    ]
    return Scored(items, "\n".join(lines))


def _line(name: str, f1: float, precision: float, recall: float) -> str:
    return f"{name:11} F1 {100 * f1:5.1f}  P {100 * precision:5.1f}  R {100 * recall:5.1f}"


def _tagged(one: Id, gold: object) -> str:
    if not isinstance(gold, str):
        raise InputError(f'id {one!r}: "gold" must be a tagged text: "[IN:GET_SALONS in [SL:CITY Napa ] ]"')
    return gold


def _text(prediction: object) -> str:
    """An answer that is no text has no tags."""
    return prediction if isinstance(prediction, str) else ""


TAGS = Task({"reference": score_reference, "strict": score_strict})
