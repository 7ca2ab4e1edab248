"""Turns one planned call into a session: the user asks, the assistant asks back, answers, executes."""

from __future__ import annotations

import json
import random
import string
from functools import cache
from pathlib import Path
from typing import Any

from prefine_dspy.types import Session, ToolCall, Turn

CORRECTION_SHARE = 0.15
SMALL_TALK = (
    ("Thanks.", "You're welcome."),
    ("Great, that's all.", "Have a nice day."),
    ("Perfect, bye.", "Bye for now."),
    ("Thank you so much.", "Any time."),
)
ACKNOWLEDGED = ("", "", "Okay. ", "Sure. ", "Got it. ", "Right. ")
# a correction changes one of these, none of which says anything of a preference
CORRECTABLE = ("time", "date", "pickup_date", "check_in_date", "departure_date")

Phrases = dict[str, Any]


@cache
def phrases() -> dict[str, Phrases]:
    """What is said, by function: openings, questions and answers by argument, confirmations."""
    found: dict[str, Phrases] = json.loads(Path(__file__).with_name("phrases.json").read_text(encoding="utf-8"))
    return found


def session(identifier: str, call: ToolCall, rng: random.Random, corrected: dict[str, str] | None = None) -> Session:
    """One session that ends in the call.

    Args:
        identifier: the session's id.
        call: what is executed in the end.
        rng: the wording.
        corrected: arguments the user first gives otherwise and then corrects; the record keeps the last call only.
    """
    first = call.model_copy(update={"arguments": {**call.arguments, **(corrected or {})}})
    turns = _request(first, rng)
    turns.append(_executed(first, rng))
    if corrected:
        now = {name: call.arguments[name] for name in corrected}
        turns.append(
            Turn(role="user", text=f"Sorry, I mixed that up: {' and '.join(map(str, now.values()))} is right.")
        )
        turns.append(Turn(role="assistant", text="No problem, I have changed it.", calls=(call,)))
    elif rng.random() < 0.4:
        said, answer = rng.choice(SMALL_TALK)
        turns += [Turn(role="user", text=said), Turn(role="assistant", text=answer)]
    return Session(id=identifier, turns=tuple(turns), calls=(call,))


def _request(call: ToolCall, rng: random.Random) -> list[Turn]:
    spoken = phrases()[call.name]
    asked = [name for name in spoken["ask"] if name in call.arguments]
    template = rng.choice([text for text in spoken["open"] if _fillable(text, call)])
    opening = _fill(template, call)
    # what the opening says already is not asked; a date alone leaves the time to ask for
    asked = [name for name in asked if name not in _names(template) or name == "date"]
    turns = [Turn(role="user", text=opening)]
    if asked and rng.random() < 0.3:
        # the user says the first thing without being asked
        turns[0] = Turn(role="user", text=f"{opening} {_answer(call, asked.pop(0), rng)}")
    while asked:
        # sometimes two questions at once
        together = [asked.pop(0)]
        if asked and rng.random() < 0.3 and asked[0] != "eco_mode":
            together.append(asked.pop(0))
        question = " ".join(_fill(rng.choice(spoken["ask"][name]), call) for name in together)
        lead = rng.choice(ACKNOWLEDGED) if len(turns) > 1 else ""
        turns.append(Turn(role="assistant", text=lead + question))
        turns.append(Turn(role="user", text=" ".join(_answer(call, name, rng) for name in together)))
    return turns


def _executed(call: ToolCall, rng: random.Random) -> Turn:
    done = [text for text in phrases()[call.name]["done"] if _fillable(text, call)]
    return Turn(role="assistant", text=_fill(rng.choice(done), call), calls=(call,))


def _answer(call: ToolCall, argument: str, rng: random.Random) -> str:
    options = phrases()[call.name]["say"][argument]
    if isinstance(options, dict):
        options = options.get(call.arguments[argument], options.get("*"))
    answer = _fill(rng.choice([text for text in options if _fillable(text, call)]), call)
    return answer[0].upper() + answer[1:]


def _fillable(text: str, call: ToolCall) -> bool:
    return all(name in call.arguments for name in _names(text))


def _names(text: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(text) if name]


def _fill(text: str, call: ToolCall) -> str:
    return text.format(**{name: str(value).replace("_", " ") for name, value in call.arguments.items()})
