"""SGD dialogues as sessions, by MPT's rules (PRefine appendix A.2).

    python -m eval.data.sgd DIR --split dev

Texts and values stay as they are. A call is what the system executed (`service_call`), with its slots renamed in
place, so that arguments stand in the order of their original names. A session keeps one call a function: the last
one that kept an argument. Earlier ones are overwritten, not merged, as in MPT's released records.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eval.data.corpus_record import CorpusRecord, print_records
from eval.data.sgd_files import read_dialogues
from eval.data.sgd_slots import SlotRules, function_of, slot_rules
from prefine_dspy.errors import InputError
from prefine_dspy.types import Session, ToolCall, Turn

_ROLES: dict[str, Literal["user", "assistant"]] = {"USER": "user", "SYSTEM": "assistant"}


def load_sessions(directory: Path, split: str = "dev", slot_table: Path | None = None) -> Iterator[Session]:
    """The sessions of an SGD split, in file order; `id` is the dialogue's.

    Args:
        directory: the folder that holds `dev/`, or SGD's tar.gz.
        split: "dev", "test" or "train"; ids are unique inside one split only.
        slot_table: NLSI's common-domain-slots.tsv; needed for services outside the dev split.

    Raises:
        InputError: see `load_records`.
    """
    return (record.session for record in load_records(directory, split, slot_table))


def load_records(directory: Path, split: str = "dev", slot_table: Path | None = None) -> Iterator[CorpusRecord]:
    """As `load_sessions`, with what was dropped beside each session.

    Raises:
        InputError: nothing to read there, a file that is not SGD's, or a service that needs the slot table.
    """
    rules = slot_rules(slot_table)
    for dialogue in read_dialogues(directory, split):
        yield convert(dialogue, rules)


def convert(dialogue: dict[str, Any], rules: SlotRules) -> CorpusRecord:
    """One raw SGD dialogue as a session and its deprecated calls.

    Raises:
        InputError: not an SGD dialogue, or a service that `rules` do not know.
    """
    try:
        return _convert(dialogue, rules)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        name = dialogue.get("dialogue_id", "?") if isinstance(dialogue, dict) else "?"
        raise InputError(f"dialogue {name} is not an SGD dialogue: {type(error).__name__}: {error}") from error


def _convert(dialogue: dict[str, Any], rules: SlotRules) -> CorpusRecord:
    turns: list[Turn] = []
    # A dict keeps the place of a function's first call when a later one replaces it, as the released order does.
    executed: dict[str, ToolCall] = {}
    deprecated: list[str] = []
    for turn in dialogue["turns"]:
        role = _ROLES[turn["speaker"]]
        kept: list[ToolCall] = []
        raw: list[ToolCall] = []
        for frame in turn["frames"] if role == "assistant" else ():
            if frame.get("service_call"):
                call, original, dropped = _call(frame["service"], frame["service_call"]["parameters"], rules)
                raw.append(original)
                deprecated += dropped
                if call.arguments:
                    kept.append(call)
                    executed[call.name] = call
        # A turn whose calls lost every argument still shows what was executed, under the original names.
        turns.append(Turn(role=role, text=turn["utterance"], calls=tuple(kept or raw)))
    session = Session(id=dialogue["dialogue_id"], turns=tuple(turns), calls=tuple(executed.values()))
    return CorpusRecord(session, tuple(deprecated))


def _call(service: str, parameters: dict[str, str], rules: SlotRules) -> tuple[ToolCall, ToolCall, list[str]]:
    """The renamed call, the call under its original names, and one deprecated call string per dropped slot."""
    function = function_of(service)
    original = ToolCall(name=function, arguments=dict(sorted(parameters.items())))
    arguments: dict[str, Any] = {}
    dropped: list[str] = [] if parameters else [str(original)]
    for slot, value in original.arguments.items():
        argument = rules.argument(service, slot)
        if argument is None:
            dropped.append(str(ToolCall(name=function, arguments={slot: value})))
        elif argument in arguments:
            # Two slots may become one argument, each with its value: a transfer from savings to checking.
            earlier = arguments[argument]
            arguments[argument] = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
        else:
            arguments[argument] = value
    return ToolCall(name=function, arguments=arguments), original, dropped


def main(
    directory: Annotated[Path, typer.Argument(help="the folder that holds dev/, or SGD's tar.gz")],
    split: Annotated[str, typer.Option(help="dev, test or train")] = "dev",
    slot_table: Annotated[
        Path | None, typer.Option(help="NLSI's common-domain-slots.tsv, for services outside the dev split")
    ] = None,
) -> None:
    """Print one JSON line a dialogue: dialogue_id, api_call, deprecated_api_call."""
    print_records(load_records(directory, split, slot_table))


if __name__ == "__main__":
    typer.run(main)
