"""Reads the hand-written source into blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prefine_dspy.errors import InputError

_TAG = re.compile(r"\[(?:IN|SL):[A-Z_]+ | ?\]")
_ACTION = re.compile(r"\[IN:([A-Z_]+) ")


@dataclass
class Block:
    """One dialogue of the source.

    Args:
        kind: the reasoning type.
        dialogue: its lines.
        applicable: tagged instructions that apply.
        overridden: tagged instructions against which the user decides in the dialogue.
        others: instructions of the same domain, without tags, whose condition is not met.
        gold: call strings.
    """

    kind: str
    dialogue: list[str] = field(default_factory=list)
    applicable: list[str] = field(default_factory=list)
    overridden: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    gold: list[str] = field(default_factory=list)

    def functions(self) -> set[str]:
        """What is called or could have been: a profile gets no more instructions about these."""
        called = {call.partition("(")[0] for call in self.gold}
        return called | {one for tagged in [*self.applicable, *self.overridden] for one in functions_of(tagged)}


def plain(tagged: str) -> str:
    """The instruction without its tags."""
    return _TAG.sub("", tagged)


def functions_of(tagged: str) -> list[str]:
    """The functions whose tags an instruction has: GET_HOUSE_STAYS is GetHouseStays."""
    return ["".join(part.title() for part in name.split("_")) for name in _ACTION.findall(tagged)]


def read_blocks(text: str) -> list[Block]:
    """The blocks of one source file.

    Raises:
        InputError: a line begins with none of the known signs.
    """
    blocks: list[Block] = []
    for number, line in enumerate(text.splitlines(), start=1):
        sign, _, rest = line.partition(" ")
        if sign == "==":
            blocks.append(Block(rest.strip()))
        elif sign in ("User:", "Agent:"):
            blocks[-1].dialogue.append(line)
        elif sign in ("+", "!", "-", ">"):
            block = blocks[-1]
            {"+": block.applicable, "!": block.overridden, "-": block.others, ">": block.gold}[sign].append(rest)
        elif line.strip() and sign != "#":
            raise InputError(f"line {number}: {line[:40]!r} begins with none of == User: Agent: + ! - >")
    return blocks
