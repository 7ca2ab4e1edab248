"""A raw DuRecDial 2.0 record made regular: who speaks, without markers, with one goal an utterance.

The release has no speaker names. The system opens a dialogue that begins with greetings, the user any other; then
they alternate (PRefine appendix A.2). Goals come one an utterance, or one a stage, whose begin a `[n]` marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from prefine_dspy.errors import InputError

_MARKER = re.compile(r"\s*\[(\d+)\]\s*")


class Utterance(NamedTuple):
    """One line of the dialogue, under its goal ("Movie recommendation") and the goal's topic (a title)."""

    role: Literal["user", "assistant"]
    text: str
    goal: str
    topic: str


class Dialogue(NamedTuple):
    """A record.

    Args:
        id: `en_{split}_{line}`, lines from 0.
        profile: the seeker's `user_profile` as published.
        situation: the published remark on time and place; may be empty.
        utterances: the dialogue.
        facts: the knowledge triples (subject, relation, object), in order.
    """

    id: str
    profile: dict[str, Any]
    situation: str
    utterances: tuple[Utterance, ...]
    facts: tuple[tuple[str, str, str], ...]


def regular(record: dict[str, Any], name: str) -> Dialogue:
    """A record in regular form.

    Args:
        record: as read from a raw file.
        name: its id.

    Raises:
        InputError: a key is missing, or the goals fit neither the utterances nor the markers.
    """
    try:
        lines = [str(line) for line in record["conversation"]]
        goals = [str(goal) for goal in record["goal_type_list"]]
        topics = [str(topic) for topic in record["goal_topic_list"]]
        places = _goal_places(lines, len(goals))
        first = 1 if goals and goals[0] == "Greetings" else 0
        roles: tuple[Literal["user"], Literal["assistant"]] = ("user", "assistant")
        utterances = tuple(
            Utterance(roles[(first + i) % 2], _MARKER.sub("", line, count=1), goals[place], topics[place])
            for i, (line, place) in enumerate(zip(lines, places, strict=True))
        )
        return Dialogue(
            id=name,
            profile=dict(record["user_profile"]),
            situation=str(record.get("situation") or ""),
            utterances=utterances,
            facts=tuple(_triples(record.get("knowledge") or [])),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"record {name} is not DuRecDial 2.0: {type(error).__name__}: {error}") from error


def _goal_places(lines: list[str], goals: int) -> list[int]:
    """For each line the place of its goal."""
    if goals == len(lines):
        return list(range(goals))
    markers = [_MARKER.match(line) for line in lines]
    if not any(markers):
        raise ValueError(f"{goals} goals for {len(lines)} utterances, and no [n] says where each begins")
    places, place = [], 0
    for marker in markers:
        place = int(marker[1]) - 1 if marker else place
        if not 0 <= place < goals:
            raise ValueError(f"goal [{place + 1}] of {goals}")
        places.append(place)
    return places


def _triples(knowledge: Any) -> Iterator[tuple[str, str, str]]:
    """All triples, however they are grouped: published as one list, or as one list an utterance."""
    if isinstance(knowledge, list | tuple):
        if len(knowledge) == 3 and all(isinstance(part, str) for part in knowledge):
            yield knowledge[0], knowledge[1], knowledge[2]
        else:
            for part in knowledge:
                yield from _triples(part)
