"""HomeBench's operation strings, and which of them MPT keeps as calls.

A record pairs an instruction with the operations an annotator derived from it. MPT keeps an operation only if its
value is said in the instruction: a user who says "a bit brighter" has not named a brightness. These rules were
inferred from released records, whose converter is not public.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prefine_dspy.types import ToolCall

_FUNCTIONS = {
    "air_conditioner": "GetAirConditioner",
    "air_purifiers": "GetAirPurifiers",
    "aromatherapy": "GetAromatherapy",
    "blinds": "GetBlinds",
    "curtain": "GetCurtain",
    "dehumidifiers": "GetDehumidifiers",
    "fan": "GetFan",
    "garage_door": "GetGarageDoor",
    "heating": "GetHeating",
    "humidifier": "GetHumidifier",
    "light": "GetLight",
    "media_player": "GetMediaPlayer",
    "trash": "GetTrash",
    "water_heater": "GetWaterHeater",
}
_ACTIONS = {"turn_on", "turn_off", "open", "close", "play", "pause", "stop", "pack"}

_OPERATION = re.compile(r"(\w+)\.(\w+)\.(\w+)\(([^()]*)\)")
_CLAUSE_END = re.compile(r",\s*(?:and\s+)?|\s+and\s+(?=[a-z])|;\s*|\.\s+")
_STEPS = re.compile(r"\bby (?:\w+ )?(?:\d+|one|two) levels?\b", re.IGNORECASE)
# How instructions inflect a value: "swing automatically", "move it upwards".
_INFLECTED = {"auto": r"auto(?:matic(?:ally)?)?", "up": r"up(?:wards?)?", "down": r"down(?:wards?)?"}


class Operation(NamedTuple):
    """`room.device.method(value)`; the value is empty for a plain action."""

    room: str
    device: str
    method: str
    value: str

    def call(self) -> ToolCall | None:
        """The call this is in MPT's schema, area first; None when MPT has no such tool or action."""
        function = _FUNCTIONS.get(self.device)
        if function is None:
            return None
        if self.method.startswith("set_") and self.value:
            argument, value = self.method.removeprefix("set_"), self.value
            if (self.device, argument, value) == ("water_heater", "mode", "eco"):
                argument, value = "eco_mode", "on"
            return ToolCall(name=function, arguments={"area": self.room, argument: value})
        if self.method in _ACTIONS and not self.value:
            return ToolCall(name=function, arguments={"area": self.room, "action": self.method})
        return None


def read_operations(output: str) -> list[Operation | None]:
    """The operations of a record's `output`, in order; None for `error_input` and for what is no operation.

    Args:
        output: comma-separated operations in triple single quotes, as HomeBench publishes them.
    """
    entries = [entry.strip() for entry in re.split(r",(?![^(]*\))", output.strip().strip("'"))]
    found = [_OPERATION.fullmatch(entry) for entry in entries if entry]
    return [Operation(match[1], match[2], match[3], match[4].strip()) if match else None for match in found]


def kept_calls(instruction: str, output: str) -> list[ToolCall]:
    """The calls of a record: valid operations whose value is said, as such, in the instruction (else dropped).

    Where the instruction has one clause an operation, the value must be in the operation's own clause: "lower the
    light by 20 percent, set the fan to high" says no brightness, whatever numbers stand elsewhere.
    """
    operations = read_operations(output)
    clauses = [clause for clause in _CLAUSE_END.split(instruction.strip().rstrip(".")) if clause.strip()]
    if len(clauses) != len(operations):
        clauses = [instruction] * len(operations)
    kept: list[ToolCall] = []
    for clause, operation in zip(clauses, operations, strict=True):
        call = operation.call() if operation else None
        if operation and call and (not operation.value or says(clause, operation.value)):
            kept.append(call)
    return kept


def says(clause: str, value: str) -> bool:
    """Whether a clause names a value as the one wanted; "by 20 percent" names a change, not a value."""
    if re.fullmatch(r"\d+(\.\d+)?", value):
        wanted = rf"(?<![\d.])(?<!\bby )(?<!creasing )(?<!creasing it ){re.escape(value)}(?!\d|\.\d)"
    elif _STEPS.search(clause):
        return False
    else:
        words = _INFLECTED.get(value) or r"[\s_-]".join(re.escape(word) for word in value.split("_"))
        wanted = rf"\b{words}\b"
    return re.search(wanted, clause, re.IGNORECASE) is not None
