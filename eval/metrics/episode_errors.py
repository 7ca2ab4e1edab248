"""Why an episode failed, as far as that can be told without a judge (the labels of IDSS section 4.4).

The paper's labels were given by annotators. Here they come from comparing the calls that changed something with the
task's gold calls, and from what the agent had read before: a lower bound that is the same for every method.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from eval.envs.episode import Episode
from eval.metrics.episode_figures import figures_of
from prefine_dspy.types import ToolCall, value_text

_SHORTEST = 2
"""Shorter values ("1", "Y") stand in too many texts to tell whether a fact was seen."""


class ErrorLabels(NamedTuple):
    """Labels of one episode; a success has none. None: cannot be told.

    Args:
        fact_omission: a call that changed something had a wrong argument, although the right value stood in what the
            agent had read before.
        missing_information: such a call had a wrong argument whose right value the agent had not read yet: it acted
            without asking or looking up.
        constraint_violation: a call broke a rule of the policy (only where the environment checks its rules).
    """

    fact_omission: bool | None
    missing_information: bool | None
    constraint_violation: bool | None


class WrongArgument(NamedTuple):
    """An argument in which a call that changed something differs from its gold call.

    Args:
        step: index of the call.
        function, argument: which.
        value, right: what it was and what it should have been, as text; "" for none.
        seen: the right value had been read before; None when that cannot be told from texts.
    """

    step: int
    function: str
    argument: str
    value: str
    right: str
    seen: bool | None


def error_labels(episode: Episode) -> ErrorLabels:
    """The labels of an episode."""
    if figures_of(episode).success:
        return ErrorLabels(False, False, False)
    broken = [step.details["violations"] for step in episode.steps if "violations" in step.details]
    violated = any(broken) if broken else None
    if not episode.gold:
        return ErrorLabels(None, None, violated)
    wrong = wrong_arguments(episode)
    return ErrorLabels(any(one.seen is True for one in wrong), any(one.seen is False for one in wrong), violated)


def wrong_arguments(episode: Episode) -> list[WrongArgument]:
    """Arguments of executed writes that differ from the gold call they come closest to.

    A write that no gold call of its function is left for is no wrong argument but a wrong action; so is a missing one.
    """
    done = _writes(episode)
    gold = [call for call in episode.gold if call.name in episode.writes]
    for step, call in list(done):
        if same := next((one for one in gold if _triplets(one) == _triplets(call)), None):
            gold.remove(same)
            done.remove((step, call))
    found: list[WrongArgument] = []
    for step, call in done:
        closest = max((one for one in gold if one.name == call.name), key=lambda one: _shared(one, call), default=None)
        if closest is not None:
            gold.remove(closest)
            found += _differences(episode, step, call, closest)
    return found


def _writes(episode: Episode) -> list[tuple[int, ToolCall]]:
    return [
        (number, step.action)
        for number, step in enumerate(episode.steps)
        if isinstance(step.action, ToolCall)
        and step.action.name in episode.writes
        and not (step.observation is not None and step.observation.error)
    ]


def _differences(episode: Episode, step: int, call: ToolCall, gold: ToolCall) -> Iterator[WrongArgument]:
    read = list(episode.observed())[: step + 1]
    for argument in dict.fromkeys([*gold.arguments, *call.arguments]):
        given, right = call.arguments.get(argument), gold.arguments.get(argument)
        if value_text(given) == value_text(right):
            continue
        # parts that both have are not what went wrong
        missed = [leaf for leaf in _leaves(right) if leaf not in list(_leaves(given))]
        seen = [one for one in (stands_in(leaf, read) for leaf in missed) if one is not None]
        yield WrongArgument(
            step,
            call.name,
            argument,
            "" if given is None else value_text(given),
            "" if right is None else value_text(right),
            all(seen) if seen else None,
        )


def stands_in(value: str, texts: Sequence[str]) -> bool | None:
    """Whether a value stands in one of the texts; dates also as "15 May" and "May 15th". None when it is too short or a
    truth value, which texts spell in any way."""
    if len(value) < _SHORTEST or value in ("True", "False", "None"):
        return None
    pattern = re.compile("|".join(_forms(value)), re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def _forms(value: str) -> Iterator[str]:
    yield rf"(?<!\w){re.escape(value)}(?!\w)"
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return
    # strftime's names follow the machine's language
    month = "January February March April May June July August September October November December".split()[
        day.month - 1
    ]
    name = rf"{month[:3]}(?:{month[3:]})?" if month[3:] else month
    yield rf"\b{day.day}(?:st|nd|rd|th)?(?: of)? {name}\b"
    yield rf"\b{name} {day.day}(?:st|nd|rd|th)?\b"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one)
    elif value is not None:
        yield value_text(value)


def _triplets(call: ToolCall) -> list[tuple[str, str, str]]:
    return sorted(call.triplets())


def _shared(a: ToolCall, b: ToolCall) -> int:
    return len(set(_triplets(a)) & set(_triplets(b)))
