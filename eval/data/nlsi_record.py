"""One record of NLSI -> `NlsiInstance`: the published layout, the regenerated one, and files of one's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from eval.data.nlsi_calls import read_gold
from prefine_dspy.errors import InputError
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.types import Query, ToolCall, Turn

REASONING_TYPES = ("NoneApplicable", "Plain", "MultiHop", "MultiPreference", "MultiDomain", "Conflict")
"""The paper's names, in the order of its tables."""

_LABELS = {
    **{name.lower(): name for name in REASONING_TYPES},
    # the labels of the authors' code, and TAPS's second name for the first type
    "noinstructions": "NoneApplicable",
    "simple": "Plain",
    "chainssimple": "MultiHop",
    "multipleinstructions": "MultiPreference",
    "chainsdomains": "MultiDomain",
    "override": "Conflict",
}
_SPEAKER = re.compile(r"\s*(user|agent|assistant|system)\s*:\s*(.*)", re.IGNORECASE)


class NlsiInstance(BaseModel):
    """One dialogue with its user's instructions and the calls that are right.

    Args:
        id: unique in its split.
        request: the dialogue; `applicable` are the gold instructions, with the ids that they have in `profile`.
        gold: call strings as published, in order; `gold_calls` reads them.
        reasoning_type: one of `REASONING_TYPES`.
        dialogue_id: of the dialogue that it was made from; empty when the file does not say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    request: InstructedQuery
    gold: tuple[str, ...]
    reasoning_type: str
    dialogue_id: str = ""

    def gold_calls(self) -> list[ToolCall]:
        """The gold calls, read tolerantly (see `read_gold`)."""
        return [read_gold(text) for text in self.gold]


def read_record(where: str, value: Any) -> NlsiInstance:
    """The instance in a record.

    Instructions of the published records are numbered anew among the applicable ones, so these are found in the profile
    by their text and get its ids. One that is not there keeps an id of its own, "applicable-<n>".

    Args:
        where: "file:line", for errors.
        value: the decoded record; unknown keys are ignored.

    Raises:
        InputError: a key is missing, of a wrong kind, or holds what cannot be used; names `where` and the key.
    """
    record = _Reader(where, value)
    metadata = _Reader(f"{where}: metadata", record.value.get("metadata") or {})
    name = record.first_text("example_id") or metadata.first_text("example_id")
    if not name:
        raise InputError(f"{where}: key 'example_id' is missing")
    profile = _profile(record.list("all_standing_instructions"), where, "all_standing_instructions")
    applicable = _profile(record.list("applicable_standing_instructions"), where, "applicable_standing_instructions")
    by_text = {one.text: one for one in reversed(profile)}
    return NlsiInstance(
        id=name,
        request=InstructedQuery(
            query=Query(id=name, turns=dialogue_turns(record.text("user_utterance"), where)),
            applicable=tuple(
                by_text.get(one.text, StandingInstruction(id=f"applicable-{k}", text=one.text))
                for k, one in enumerate(applicable)
            ),
            profile=profile,
        ),
        gold=_gold(record.list("api_calls"), where),
        reasoning_type=_reasoning_type(record, metadata),
        dialogue_id=metadata.first_text("dialogue_id", "dial_id", "og_id") or record.first_text("dialogue_id"),
    )


def dialogue_turns(text: str, where: str = "dialogue") -> tuple[Turn, ...]:
    """`User:` and `Agent:` lines as turns; a line without a speaker goes on with the turn before it.

    Raises:
        InputError: there is no word in it.
    """
    turns: list[Turn] = []
    for line in text.splitlines():
        said = _SPEAKER.fullmatch(line)
        if said:
            role = "user" if said[1].lower() == "user" else "assistant"
            turns.append(Turn.model_validate({"role": role, "text": said[2].strip()}))
        elif line.strip() and not turns:
            turns.append(Turn(role="user", text=line.strip()))
        elif line.strip():
            turns[-1] = Turn(role=turns[-1].role, text=f"{turns[-1].text}\n{line.strip()}".strip())
    kept = tuple(turn for turn in turns if turn.text)
    if not kept:
        raise InputError(f"{where}: key 'user_utterance' holds no dialogue: write it as \"User: ...\" lines")
    return kept


def _profile(values: Sequence[Any], where: str, key: str) -> tuple[StandingInstruction, ...]:
    """Instructions with their own ids, or with their places where these are missing or not unique."""
    readers = [_Reader(f"{where}: {key}[{k}]", value) for k, value in enumerate(values)]
    texts = [reader.text("nl_instruction") for reader in readers]
    ids = [reader.first_text("instruction_id") for reader in readers]
    if not all(ids) or len(set(ids)) != len(ids):
        ids = [str(k) for k in range(len(texts))]
    return tuple(StandingInstruction(id=name, text=text) for name, text in zip(ids, texts, strict=True))


def _gold(values: Sequence[Any], where: str) -> tuple[str, ...]:
    for k, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError(f"{where}: api_calls[{k}] must be text, found {type(value).__name__}")
        try:
            read_gold(value)
        except InputError as error:
            raise InputError(f"{where}: api_calls[{k}]: {error}") from None
    return tuple(values)


def _reasoning_type(record: _Reader, metadata: _Reader) -> str:
    labels = [metadata.first_text("example_type", "source_label"), record.first_text("example_type", "reasoning_type")]
    label = next(filter(None, labels), None)
    if label is None:
        raise InputError(f"{record.where}: no reasoning type: metadata.example_type must be one of {_known()}")
    found = _LABELS.get("".join(filter(str.isalnum, label)).lower())
    if found is None:
        raise InputError(f"{record.where}: unknown reasoning type {label!r}: use one of {_known()}")
    return found


def _known() -> str:
    return ", ".join(REASONING_TYPES)


class _Reader:
    """One object of the file; whatever is missing or odd is reported with the place it belongs to."""

    def __init__(self, where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {type(value).__name__}")
        self.where = where
        self.value = value

    def text(self, key: str) -> str:
        found = self._get(key)
        if not isinstance(found, str) or not found.strip():
            kind = "nothing" if isinstance(found, str) else type(found).__name__
            raise InputError(f"{self.where}: key {key!r} must be text, found {kind}")
        return found

    def first_text(self, *keys: str) -> str:
        """The first of the keys that holds something, as text; numbers are taken, too."""
        for key in keys:
            found = self.value.get(key)
            if isinstance(found, str | int) and not isinstance(found, bool) and str(found).strip():
                return str(found).strip()
        return ""

    def list(self, key: str) -> list[Any]:
        found = self._get(key)
        if not isinstance(found, list):
            raise InputError(f"{self.where}: key {key!r} must be a list, found {type(found).__name__}")
        return found

    def _get(self, key: str) -> Any:
        if key not in self.value:
            raise InputError(f"{self.where}: key {key!r} is missing")
        return self.value[key]
