"""DuRecDial 2.0 (English) as users with sessions, by MPT's rules (PRefine appendix A.2).

    python -m eval.data.durecdial DIR

DIR holds the raw en_train.txt, en_dev.txt and en_test.txt, one JSON object a line. Dialogues are quoted, not
rewritten, but for deferrals ("another time"), which MPT replaces by acceptance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eval.data.corpus_record import CorpusRecord, print_records
from eval.data.durecdial_calls import REJECTING, Item, call_of, items, kept_calls, reaction_at
from eval.data.durecdial_reactions import leaks_rejection, states_preference
from eval.data.durecdial_record import Dialogue, regular
from prefine_dspy.errors import InputError
from prefine_dspy.types import Session, ToolCall, Turn

SPLITS = ("train", "dev", "test")
PERSONA = ("Name", "Gender", "Age Range", "Residence", "Occupation")
_ACCEPTANCE = "Good, I will take it."


class Seeker(NamedTuple):
    """One user of the corpus: the five persona fields of the profile, and their sessions in file order."""

    profile: dict[str, Any]
    sessions: list[Session]


def load_users(directory: Path, discard: bool = True) -> list[Seeker]:
    """The seekers, in order of first appearance; dialogues with the same persona belong to one.

    Args:
        directory: holds at least one of en_train.txt, en_dev.txt, en_test.txt.
        discard: leave out what would tell the preference (see `is_latent`), and seekers who refuse an item that they
            accepted in an earlier session.

    Raises:
        InputError: see `load_sessions`.
    """
    seekers: dict[tuple[str, ...], tuple[Seeker, list[list[Item]]]] = {}
    for dialogue in read_dialogues(directory):
        if discard and not is_latent(dialogue):
            continue
        persona = {field: dialogue.profile[field] for field in PERSONA if field in dialogue.profile}
        key = tuple(str(persona.get(field, "")) for field in PERSONA)
        seeker, seen = seekers.setdefault(key, (Seeker(persona, []), []))
        seeker.sessions.append(to_session(dialogue))
        seen.append(items(dialogue))
    return [seeker for seeker, seen in seekers.values() if not discard or is_consistent(seen)]


def load_sessions(directory: Path, discard: bool = False) -> Iterator[Session]:
    """The sessions of all seekers in file order (train, dev, test); ids are `en_{split}_{line}`, lines from 0.

    Args:
        directory: holds at least one of en_train.txt, en_dev.txt, en_test.txt.
        discard: leave out dialogues that tell the preference.

    Raises:
        InputError: none of the files is there, or a line is no DuRecDial 2.0 record.
    """
    return (to_session(dialogue) for dialogue in read_dialogues(directory) if not discard or is_latent(dialogue))


def read_dialogues(directory: Path) -> Iterator[Dialogue]:
    """The records in regular form, in file order.

    Raises:
        InputError: as `load_sessions`.
    """
    paths = {split: directory / f"en_{split}.txt" for split in SPLITS}
    found = {split: path for split, path in paths.items() if path.is_file()}
    if not found:
        raise InputError(f"no en_train.txt, en_dev.txt or en_test.txt in {directory}: give DuRecDial 2.0's folder")
    for split, path in found.items():
        try:
            with path.open(encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines):
                    if line.strip():
                        yield regular(json.loads(line), f"en_{split}_{number}")
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path} is not one JSON record a line: {error}") from error


def to_session(dialogue: Dialogue) -> Session:
    """A dialogue as a session: every system turn under a recommendation goal shows its call, refused or not.

    The session's calls are those that the user accepted (`kept_calls`).
    """
    turns: list[Turn] = []
    previous: ToolCall | None = None
    for place, (role, text, _, _) in enumerate(dialogue.utterances):
        call = call_of(dialogue.utterances[place], dialogue) if role == "assistant" else None
        if role == "user" and previous is not None and reaction_at(dialogue, place - 1) == "deferred":
            text = _ACCEPTANCE
        turns.append(Turn(role=role, text=text, calls=(call,) if call else ()))
        previous = call
    return Session(id=dialogue.id, turns=tuple(turns), calls=tuple(kept_calls(items(dialogue))))


def is_latent(dialogue: Dialogue) -> bool:
    """Whether the preference stays latent: no user turn gives a liking as reason, no system turn tells a dislike."""
    return not any(
        states_preference(utterance.text) if utterance.role == "user" else leaks_rejection(utterance.text)
        for utterance in dialogue.utterances
    )


def is_consistent(sessions: list[list[Item]]) -> bool:
    """Whether a seeker never refuses an item that they accepted in an earlier session."""
    accepted: set[str] = set()
    for found in sessions:
        if any(item.reaction == "refused" and str(item.call) in accepted for item in found):
            return False
        accepted.update(str(item.call) for item in found if item.reaction not in REJECTING)
    return True


def main(
    directory: Annotated[Path, typer.Argument(help="holds en_train.txt, en_dev.txt, en_test.txt")],
    discard: Annotated[bool, typer.Option(help="leave out dialogues that tell the preference")] = False,
) -> None:
    """Print one JSON line a dialogue: dialogue_id, api_call, deprecated_api_call (always empty)."""
    print_records(CorpusRecord(session) for session in load_sessions(directory, discard))


if __name__ == "__main__":
    typer.run(main)
