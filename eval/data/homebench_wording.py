"""The words of a HomeBench session: our own, since a record has an instruction but no dialogue.

Each executed call becomes one exchange: a request that is carried out at once, or one that needs a question, or one
that the user corrects. Which of them is fixed by the record's id, so that a build is the same everywhere.
"""

from __future__ import annotations

from hashlib import sha256

from prefine_dspy.types import ToolCall, Turn

_DEVICES = {
    "GetAirConditioner": "air conditioner",
    "GetAirPurifiers": "air purifier",
    "GetAromatherapy": "aroma diffuser",
    "GetBlinds": "blinds",
    "GetCurtain": "curtain",
    "GetDehumidifiers": "dehumidifier",
    "GetFan": "fan",
    "GetGarageDoor": "garage door",
    "GetHeating": "heating",
    "GetHumidifier": "humidifier",
    "GetLight": "light",
    "GetMediaPlayer": "media player",
    "GetTrash": "rubbish bag",
    "GetWaterHeater": "water heater",
}
_ROOMS = {"ding_room": "dining room"}
_UNITS = {"temperature": " degrees", "degree": " percent", "intensity": " percent", "brightness": " percent"}
_THINGS = {"degree": "opening", "fan_speed": "fan speed", "swing": "swing position", "eco_mode": "eco mode"}
# action -> what the user says, what the assistant reports
_ACTIONS = {
    "turn_on": ("Please switch on", "is running"),
    "turn_off": ("Please switch off", "is off"),
    "open": ("Please open", "is open now"),
    "close": ("Please close", "is closed now"),
    "play": ("Start playback on", "is playing"),
    "pause": ("Hold playback on", "is paused"),
    "stop": ("End playback on", "has stopped"),
    "pack": ("Please tie up", "is packed"),
}


def exchange(call: ToolCall, key: str) -> list[Turn]:
    """The turns in which a call is asked for and carried out; the last one carries the call.

    Args:
        call: `area` and one more argument, as the HomeBench converter makes it.
        key: decides among the wordings; the same key always gives the same turns.
    """
    thing, value = next(item for item in call.arguments.items() if item[0] != "area")
    place = f"the {_DEVICES[call.name]} in the {room_words(call.arguments['area'])}"
    choice = sha256(key.encode("utf-8")).digest()
    if thing == "action":
        request, report = _ACTIONS[value]
        return _turns([f"{request} {place}."], f"Done: {place} {report}.", call)
    if thing == "eco_mode":
        requests = (f"Run {place} in eco mode, please.", f"Put {place} on eco for me.")
        return _turns([requests[choice[1] % 2]], f"Eco mode is on for {place}.", call)
    name, said = _THINGS.get(thing, thing), value.replace("_", " ")
    wanted = f"{said}{_UNITS.get(thing, '')}"
    report = f"All right, {place}: {name} {wanted}."
    if choice[0] % 4 == 0:
        return _turns([f"I want another {name} for {place}.", f"Which {name} shall I set?", f"{wanted}."], report, call)
    if choice[0] % 4 == 1 and value.isdigit():
        # the first try is downwards where it can be: 100 is the top of most scales
        step = 1 + choice[1] % 3
        other = f"{int(value) - step if int(value) > step else int(value) + step}{_UNITS.get(thing, '')}"
        opening = f"Bring the {name} of {place} to {other}."
        return _turns([opening, f"{other}, is that right?", f"No, rather {wanted}."], report, call)
    return _turns([f"Bring the {name} of {place} to {wanted}."], report, call)


def room_words(area: str) -> str:
    """A room as people say it: "ding_room" -> "dining room"."""
    return _ROOMS.get(area, area.replace("_", " "))


def _turns(said: list[str], report: str, call: ToolCall) -> list[Turn]:
    turns = [Turn(role="assistant" if i % 2 else "user", text=text) for i, text in enumerate(said)]
    return [*turns, Turn(role="assistant", text=report, calls=(call,))]
