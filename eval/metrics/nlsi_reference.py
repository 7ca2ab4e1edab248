"""The published TAPS evaluator's behaviour on NLSI, beside the paper's numbers. Written anew from a description.

Its oddities are kept, since they move the paper's numbers: an instance is one set of slots over all calls, punctuation
vanishes (`$250` is `250`), a wrong date can be forgiven by a look at the gold, a gold "any" can never be matched, "Get"
inside a value breaks the call. Do not repair anything here; `eval.metrics.nlsi_strict` is the scorer without them.

Five steps: A clean the prediction's text, B read call lines, C normalise values, D make keys, E score. Gold strings go
through B to E only. Every pattern here takes linear time: predictions are hostile input.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from eval.metrics.locations import find_aliases
from eval.metrics.nlsi_score import NOTHING_RIGHT, NlsiScore, harmonic_mean

__all__ = ["Call", "NlsiScore", "optimiser_em", "optimiser_f1", "read_call", "score_calls"]

ANY = "any"
Slots = dict[str, str]
"""Values by argument of one call; an argument that is repeated has its last value."""


class Call(NamedTuple):
    """One call line: the function without its "Get" ("" when the line is no call), and its slots."""

    function: str
    slots: Slots


# -------------------------------------------------------------------------------------------- A: the prediction's text

_BLANK_BEFORE_PARENTHESIS = re.compile(r"(?<=Get)([A-Za-z]++) \(")


def call_lines(text: str) -> list[str]:
    """What the evaluator takes for calls: the stretches of lines that start with "Get", wherever the word stands."""
    text = text.split("[INST]", 1)[0].split("']", 1)[0]
    text = text.replace("Get", "\nGet")
    text = _BLANK_BEFORE_PARENTHESIS.sub(r"\1(", text).replace("\\", "")
    return [line.strip() for line in text.splitlines() if line.startswith("Get")]


# ---------------------------------------------------------------------------------------------------- B: reading calls

_FUNCTION = re.compile(r"Get(\w++)\([^\n]")
_BARE_NUMBER = re.compile(r"=([1-9][^,)]*+)")
_SLOT = re.compile(r'(?<!\w)(\w++)="([^"]++)"')


def read_call(line: str) -> Call:
    """One call string. Slots are read even where the function is not."""
    repaired = _BARE_NUMBER.sub(r'="\1"', _with_quoted_true(line))
    return Call(_function(line), dict(_SLOT.findall(repaired)))


def _function(line: str) -> str:
    """The word after "Get" and before a parenthesis that is closed later in the line, with something in between."""
    for found in _FUNCTION.finditer(line):
        end = line.find("\n", found.end())
        if line.rfind(")", found.end(), end if end >= 0 else len(line)) >= 0:
            return found[1]
    return ""


def _with_quoted_true(line: str) -> str:
    """All of them or none, decided by the first."""
    at = line.find("True")
    return line.replace("True", '"True"') if at >= 0 and line[at - 1 : at] != '"' else line


# ---------------------------------------------------------------------------------------------------- C: normalisation

_VERSUS = re.compile(r"(?<=\W)versus(?=\W)")


def _with_aliases(call: Call, aliases: Mapping[str, str]) -> Call:
    return Call(call.function, {slot: aliases.get(value.lower(), value) for slot, value in call.slots.items()})


def _gold_slots(gold: Iterable[Call]) -> dict[str, Slots]:
    """By function, what the leniencies look at: the first value of a slot over all calls; no "any"."""
    known: dict[str, Slots] = {}
    for call in gold:
        slots = known.setdefault(call.function, {})
        for slot, value in call.slots.items():
            if value != ANY:
                slots.setdefault(slot, value)
    return known


def _lenient(call: Call, gold: Mapping[str, Slots]) -> Call:
    """A predicted call after the evaluator's leniencies, which compare it with the gold of the same function."""
    slots = call.slots
    if call.function in gold:
        wanted = gold[call.function]
        slots = {slot: _lenient_value(slot, value, wanted.get(slot)) for slot, value in slots.items()}
        slots = _renamed(slots, wanted)
    return Call(call.function, {slot: value for slot, value in slots.items() if value != ANY})


def _lenient_value(slot: str, value: str, wanted: str | None) -> str:
    if wanted is not None and ("time" in slot or "date" in slot) and _forgiven(value.lower(), wanted.lower()):
        return wanted
    return _VERSUS.sub("vs", value)


def _forgiven(value: str, wanted: str) -> bool:
    """Dates and times of several words are right if one word of the gold is missing, whatever stands in its place."""
    words = value.split()
    if value == wanted or len(words) == 1:
        return False
    return len(set(wanted.split()) - set(words)) == 1 or value in wanted


def _renamed(slots: Slots, wanted: Slots) -> Slots:
    """`event_type` and `category` stand for each other where the gold has only one of them."""
    for has, instead in (("category", "event_type"), ("event_type", "category")):
        if has in wanted and instead not in wanted and "subcategory" not in wanted and instead in slots:
            return {**{slot: value for slot, value in slots.items() if slot != instead}, has: slots[instead]}
    return slots


# ------------------------------------------------------------------------------------------------ D and E: keys, scores

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _keys(calls: Iterable[Call]) -> set[str]:
    """Function, slot and value run together: `price="range 5"` and `pricerange=" 5"` are the same key."""
    texts = (f"{call.function}_{slot}={value}" for call in calls for slot, value in call.slots.items())
    return {text.lower().translate(_WITHOUT_PUNCTUATION) for text in texts}


def score_calls(gold: Sequence[str], prediction: object, aliases: Mapping[str, str] | None = None) -> NlsiScore:
    """Score one instance as the published experiments do.

    Args:
        gold: call strings as published.
        prediction: the LM's text, or a list of texts.
        aliases: names of places and what replaces them; by default as `find_aliases` finds them.
    """
    return _score(gold, call_lines(_joined(prediction)), aliases)


def optimiser_em(gold: Sequence[str], answer: object, aliases: Mapping[str, str] | None = None) -> float:
    """The exact match that TAPS hands to its optimiser (section 4): length-checked, and deaf to all text but the part
    after the last "API Calls:" and before the first "---"."""
    part = _joined(answer).rpartition("API Calls:")[2].split("---", 1)[0]
    return _score(gold, _lines_one_by_one(part), aliases).em_length_checked


def optimiser_f1(gold: Sequence[str], answer: object, aliases: Mapping[str, str] | None = None) -> float:
    """The alternative: F1 over the whole text, without length check."""
    return _score(gold, _lines_one_by_one(_joined(answer)), aliases).f1


def _joined(prediction: object) -> str:
    """Lists are joined with line ends. What is no text says nothing."""
    if isinstance(prediction, list | tuple):
        return "\n".join(part for part in prediction if isinstance(part, str))
    return prediction if isinstance(prediction, str) else ""


def _lines_one_by_one(text: str) -> list[str]:
    """The optimiser's metrics clean line by line, so that `[INST]` and `']` end a line and not the text."""
    return [call for line in text.splitlines() for call in call_lines(line)]


def _score(gold: Sequence[str], lines: Sequence[str], aliases: Mapping[str, str] | None) -> NlsiScore:
    table = find_aliases().table if aliases is None else aliases
    wanted = [_with_aliases(read_call(text), table) for text in gold]
    known = _gold_slots(wanted)
    given = [_lenient(_with_aliases(read_call(line), table), known) for line in lines]
    gold_keys, keys = _keys(wanted), _keys(given)
    as_many = len(lines) == len(gold)
    if not gold_keys and not keys:
        return NlsiScore(1.0, float(as_many), 1.0, 1.0, 1.0)
    right = len(gold_keys & keys)
    if not right:
        return NOTHING_RIGHT
    precision, recall = right / len(keys), right / len(gold_keys)
    em = keys == gold_keys
    return NlsiScore(float(em), float(em and as_many), harmonic_mean(precision, recall), precision, recall)
