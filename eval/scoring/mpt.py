"""MPT answers from files: the published evaluator and the strict slot scorer."""

from __future__ import annotations

from eval.data.catalogue import base_catalogue, extended_catalogue, preference_slots, unseen_functions
from eval.metrics import reference, slots
from eval.metrics.counts import ItemScore, PreferenceSlots
from eval.metrics.summary import summarise, summary_text
from eval.scoring.task import Id, Pairs, Scored, Settings, Task
from prefine_dspy.errors import InputError
from prefine_dspy.parsing import parse_calls
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall


def _slots(settings: Settings) -> PreferenceSlots:
    """The published list has the 24 base functions only; the unseen ones count when they are in the schema."""
    unseen = unseen_functions() if settings.schema == "base" else ()
    return {function: slots for function, slots in preference_slots().items() if function not in unseen}


def score_reference(pairs: Pairs, settings: Settings) -> Scored:
    chosen = _slots(settings)
    scores = {
        one: reference.score_item(gold, prediction, chosen, settings.today) for one, (gold, prediction) in pairs.items()
    }
    about = {
        "scorer": "reference (the published evaluator)",
        "relative dates read from": settings.today.isoformat(),
        "dateparser": reference.dateparser_version(),
    }
    return _scored(scores, about)


def score_strict(pairs: Pairs, settings: Settings) -> Scored:
    chosen = _slots(settings)
    catalogue = base_catalogue() if settings.schema == "base" else extended_catalogue()
    scores = {}
    for one, (gold, prediction) in pairs.items():
        if not isinstance(gold, list) or not all(isinstance(text, str) for text in gold):
            raise InputError(f'id {one!r}: "gold" must be a list of call strings: ["GetHotels(average_star=...)"]')
        scores[one] = strict_score(gold, prediction, chosen, catalogue)
    return _scored(scores, {"scorer": "strict"})


def strict_score(gold: list[str], prediction: object, slots_: PreferenceSlots, catalogue: Catalogue) -> ItemScore:
    """The strict score of a recorded answer, which is read tolerantly but not corrected: what it says, counts."""
    wanted: list[ToolCall] = [call for text in gold for call in parse_calls(text).calls]
    parsed = parse_calls(prediction)
    return slots.score_item(wanted, parsed.calls, slots_, parse_failed=parsed.parse_failed, catalogue=catalogue)


def _scored(scores: dict[Id, ItemScore], about: dict[str, str]) -> Scored:
    items = [{"id": one, **score.as_dict()} for one, score in scores.items()]
    return Scored(items, summary_text(summarise(list(scores.values())), about))


MPT = Task({"reference": score_reference, "strict": score_strict})
