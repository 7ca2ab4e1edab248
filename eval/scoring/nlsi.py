"""NLSI answers from files: the published TAPS evaluator and the strict scorer."""

from __future__ import annotations

from collections.abc import Sequence

from eval.data.nlsi import REASONING_TYPES
from eval.data.nlsi_catalogue import nlsi_catalogue
from eval.metrics import nlsi_reference, nlsi_strict
from eval.metrics.locations import find_aliases
from eval.metrics.nlsi_score import NlsiScore
from eval.scoring.task import Id, Pairs, Scored, Settings, Task
from prefine_dspy.errors import InputError


def score_reference(pairs: Pairs, settings: Settings) -> Scored:
    """As published; which alias table was used is part of the summary, since it changes scores."""
    aliases = find_aliases(settings.locations)
    scores = {
        one: nlsi_reference.score_calls(_call_strings(one, gold), prediction, aliases.table)
        for one, (gold, prediction) in pairs.items()
    }
    about = ["scorer: reference (the published evaluator)", f"locations: {aliases.source}"]
    return _scored(scores, settings, about)


def score_strict(pairs: Pairs, settings: Settings) -> Scored:
    """By the types of NLSI's arguments, as in a run."""
    tools = nlsi_catalogue()
    scores = {
        one: nlsi_strict.score_answer(_call_strings(one, gold), prediction, tools)
        for one, (gold, prediction) in pairs.items()
    }
    return _scored(scores, settings, ["scorer: strict"])


def _call_strings(one: Id, gold: object) -> list[str]:
    if not isinstance(gold, list) or not all(isinstance(text, str) for text in gold):
        raise InputError(f'id {one!r}: "gold" must be a list of call strings: ["GetRestaurants(city=\\"Napa\\")"]')
    return gold


def _scored(scores: dict[Id, NlsiScore], settings: Settings, about: list[str]) -> Scored:
    types = settings.reasoning_types
    items = [
        {"id": one, **({"reasoning_type": types[one]} if one in types else {}), **score._asdict()}
        for one, score in scores.items()
    ]
    lines = [*about, f"items: {len(scores)}", _line("all", list(scores.values()))]
    # the paper's order; other names follow it
    groups: dict[str, list[NlsiScore]] = {one: [] for one in REASONING_TYPES if one in types.values()}
    for one, score in scores.items():
        if one in types:
            groups.setdefault(types[one], []).append(score)
    lines += [_line(name, group) for name, group in groups.items() if group]
    return Scored(items, "\n".join(lines))


def _line(name: str, scores: Sequence[NlsiScore]) -> str:
    em, checked, f1, precision, recall = (100 * sum(column) / len(scores) for column in zip(*scores, strict=True))
    return (
        f"{name:16} EM {em:5.1f} (length-checked {checked:5.1f})  F1 {f1:5.1f}  P {precision:5.1f}  R {recall:5.1f}"
        f"  ({len(scores)} items)"
    )


NLSI = Task({"reference": score_reference, "strict": score_strict})
