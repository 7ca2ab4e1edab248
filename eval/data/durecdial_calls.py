"""Which call a DuRecDial utterance stands for, and which of them a session keeps (PRefine appendix A.2).

Names come from the goal's topic as it is written there, misspelt or with a trailing blank, never from the
utterance: released records do the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from eval.data.durecdial_reactions import Reaction, reaction
from eval.data.durecdial_record import Dialogue, Utterance
from prefine_dspy.types import ToolCall

_MOVIES, _MUSIC, _ON_DEMAND = ("Movie recommendation",), ("Music recommendation",), ("Play music", "Music on demand")
_FOOD, _PLACES, _WEATHER = ("Food recommendation",), ("POI recommendation",), ("Ask about weather", "Weather")
# Reactions after which an item contributes no call.
REJECTING: tuple[Reaction, ...] = ("refused", "known")
_DATE = re.compile(r"\b(\d{4})\D(\d{1,2})\D(\d{1,2})\b")
_STARS, _SINGS = re.compile(r"star|cast|act", re.IGNORECASE), re.compile(r"sing|sung|perform|artist", re.IGNORECASE)


class Item(NamedTuple):
    """One thing that was recommended, played or looked up.

    Args:
        call: its call.
        on_demand: the user asked for it by name.
        turns: places of the system turns that are about it.
        reaction: the user's last word on it; "open" counts as accepted.
    """

    call: ToolCall
    on_demand: bool
    turns: tuple[int, ...]
    reaction: Reaction


def call_of(utterance: Utterance, dialogue: Dialogue) -> ToolCall | None:
    """The call of an utterance's goal; None for chat, questions and greetings."""
    goal, topic = utterance.goal, utterance.topic
    if goal in _MOVIES:
        return _call("GetMovies", starring=_person(topic, _STARS, dialogue), movie_name=topic)
    if goal in _MUSIC or goal in _ON_DEMAND:
        return _call("GetMusic", artist=_person(topic, _SINGS, dialogue), song_name=topic)
    if goal in _FOOD:
        return _call("GetFood", food_name=topic)
    if goal in _PLACES:
        return _call("GetRestaurants", restaurant_name=topic)
    if goal in _WEATHER:
        return _call("GetWeather", city=str(dialogue.profile.get("Residence") or ""), date=_date(dialogue))
    return None


def items(dialogue: Dialogue) -> list[Item]:
    """What the dialogue is about, in order, with the user's reaction to each."""
    found: list[Item] = []
    for place, utterance in enumerate(dialogue.utterances):
        call = call_of(utterance, dialogue) if utterance.role == "assistant" else None
        if call is None:
            continue
        said = reaction_at(dialogue, place)
        if found and found[-1].call == call:
            earlier = found[-1]
            # The last turn that says something decides: a user may be talked round, or out of it.
            last = earlier.reaction if said == "open" else said
            found[-1] = earlier._replace(turns=(*earlier.turns, place), reaction=last)
        else:
            found.append(Item(call, utterance.goal in _ON_DEMAND, (place,), said))
    return found


def kept_calls(found: Sequence[Item]) -> list[ToolCall]:
    """The calls a session keeps: of each chain of recommendations the last accepted item.

    A chain is a run of recommended items of one function. What the user asked for by name, and the weather, is no
    recommendation and is kept unless refused. Items refused or already known contribute no call; a deferral counts
    as acceptance.
    """
    kept: list[ToolCall] = []
    chain: str | None = None  # the function of a chain whose kept item a later one may still replace
    for item in found:
        recommended = not item.on_demand and item.call.name != "GetWeather"
        continues = recommended and chain == item.call.name
        if item.reaction in REJECTING:
            chain = chain if continues else None
            continue
        if continues:
            kept.pop()
        kept.append(item.call)
        chain = item.call.name if recommended else None
    return kept


def reaction_at(dialogue: Dialogue, place: int) -> Reaction:
    """The reaction in the user turn right after a place; "open" at the end or when that turn says goodbye."""
    if place + 1 >= len(dialogue.utterances):
        return "open"
    answer = dialogue.utterances[place + 1]
    return "open" if answer.goal == "Say goodbye" else reaction(answer.text)


def _call(name: str, **arguments: str) -> ToolCall:
    return ToolCall(name=name, arguments={argument: value for argument, value in arguments.items() if value})


def _person(title: str, relation: re.Pattern[str], dialogue: Dialogue) -> str:
    """The person tied to a title by the knowledge: one that the dialogue or the profile speaks of, else the first."""
    people = [
        other
        for subject, link, object_ in dialogue.facts
        if relation.search(link)
        for name, other in ((subject, object_), (object_, subject))
        if name.strip() == title.strip()
    ]
    liked = dialogue.profile.get("Accepted celebrities") or dialogue.profile.get("Accepted Celebrities") or ()
    known = [*(utterance.topic for utterance in dialogue.utterances), *([liked] if isinstance(liked, str) else liked)]
    return next((person for person in people if person in known), people[0] if people else "")


def _date(dialogue: Dialogue) -> str:
    """The day of a weather question, unpadded as in released calls ("2018-10-8"); empty when none is stated."""
    for text in (*(part for fact in dialogue.facts for part in fact), dialogue.situation):
        match = _DATE.search(text)
        if match:
            return "-".join(str(int(number)) for number in match.groups())
    return ""
