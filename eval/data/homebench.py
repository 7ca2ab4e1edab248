"""HomeBench instructions as sessions, by MPT's rules (PRefine appendix A.2).

    python -m eval.data.homebench test.jsonl.gz

One session a record, with all its calls in order: the paper speaks of splitting multi-intent instructions into
single-intent sessions (section 4.1), the released records do not.
"""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from eval.data.corpus_record import CorpusRecord, print_records
from eval.data.homebench_operations import kept_calls
from eval.data.homebench_wording import exchange
from prefine_dspy.errors import InputError
from prefine_dspy.types import Session, ToolCall, Turn

# The tools that have eco_mode in MPT's schema (PRefine appendix A.2), and the rooms its heating knows.
ECO_FUNCTIONS = ("GetAirConditioner", "GetHeating", "GetWaterHeater")
_NOT_IN = {"GetHeating": {"corridor"}}


def load_sessions(file: Path) -> Iterator[Session]:
    """The sessions of a HomeBench file, in its order; `id` is the record's. A record may keep no call.

    Args:
        file: JSON lines with `id`, `input` and `output`, gzip-compressed or not.

    Raises:
        InputError: the file cannot be read, holds no record, or a line is no such record.
    """
    empty = True
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        empty = False
        try:
            record = json.loads(line)
            name, instruction, output = record["id"], record["input"], record["output"]
            calls = kept_calls(instruction, output)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            what = f"{type(error).__name__}: {error}"
            raise InputError(f"{file}, line {number} is no HomeBench record with id, input, output: {what}") from error
        turns = [turn for place, call in enumerate(calls) for turn in exchange(call, f"{name}:{place}")]
        yield Session(id=name, turns=tuple(turns), calls=tuple(calls))
    if empty:
        raise InputError(f"{file} is empty: give HomeBench's records as .jsonl or .jsonl.gz")


def with_eco(session: Session, seed: int, functions: Sequence[str] = ECO_FUNCTIONS) -> Session:
    """The session with one more exchange, at a random place, in which the user asks for eco mode in a used room.

    HomeBench itself has eco mode only on the water heater; MPT adds such exchanges to give "eco" users evidence
    across functions. The call is appended last to the session's calls, wherever its exchange stands.

    Args:
        session: a HomeBench session with at least one call.
        seed: with the session's id it decides on device, room and place; the same seed gives the same session.
        functions: the tools to choose from.

    Raises:
        InputError: the session uses no room in which one of the functions could run.
    """
    areas = sorted({call.arguments["area"] for call in session.calls if "area" in call.arguments})
    choices = [(name, area) for name in functions for area in areas if area not in _NOT_IN.get(name, ())]
    if not choices:
        raise InputError(f"session {session.id} uses no room for eco mode: give a session with a call")
    chance = random.Random(f"{seed}:{session.id}")
    function, area = chance.choice(choices)
    call = ToolCall(name=function, arguments={"area": area, "eco_mode": "on"})
    added = exchange(call, f"{session.id}:{seed}:eco")
    # Only between exchanges: the turns of one belong together.
    place = chance.choice([0, *(i for i, turn in enumerate(session.turns, 1) if turn.calls)])
    turns: tuple[Turn, ...] = (*session.turns[:place], *added, *session.turns[place:])
    return Session(id=session.id, turns=turns, calls=(*session.calls, call))


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open("rb") as start:
            compressed = start.read(2) == b"\x1f\x8b"
        with gzip.open(file, "rt", encoding="utf-8-sig") if compressed else file.open(encoding="utf-8-sig") as lines:
            yield from lines
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}; give HomeBench's records as .jsonl or .jsonl.gz") from error


def main(file: Annotated[Path, typer.Argument(help="HomeBench records, .jsonl or .jsonl.gz")]) -> None:
    """Print one JSON line a record: dialogue_id, api_call, deprecated_api_call (always empty)."""
    print_records(CorpusRecord(session) for session in load_sessions(file))


if __name__ == "__main__":
    typer.run(main)
