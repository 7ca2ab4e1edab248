"""Small histories for the tests of this folder."""

from __future__ import annotations

import itertools
import random

from eval.data.instances import Facts
from eval.data.preferences import Mapping
from eval.data.users import User
from prefine_dspy.types import History, Session, ToolCall, Turn

STARS = ("Star One", "Star Two")
MAPPING = Mapping(STARS)

_numbers = itertools.count()


def session(*calls: ToolCall, name: str = "") -> Session:
    turns = (Turn(role="user", text="please"), Turn(role="assistant", text="done", calls=calls))
    return Session(id=name or f"s{next(_numbers)}", turns=turns, calls=calls)


def history(*calls: ToolCall) -> History:
    """One call a session."""
    return History(id="h", sessions=tuple(session(call) for call in calls))


def facts(*calls: ToolCall) -> Facts:
    return Facts(history(*calls), MAPPING)


def user(name: str, source: str, *calls: ToolCall) -> User:
    sessions = tuple(session(call, name=f"{name}-{k}") for k, call in enumerate(calls))
    return User(id=name, source=source, sessions=sessions)


def cheap(n: int) -> list[ToolCall]:
    """n calls that express low_cost, by turns in different functions."""
    kinds = (ToolCall.of("GetRentalCars", car_type="Compact"), ToolCall.of("GetTravel", free_entry="True"))
    return [kinds[k % 2] for k in range(n)]


def dear(n: int) -> list[ToolCall]:
    """n calls that express high_cost."""
    kinds = (ToolCall.of("GetRentalCars", car_type="Full-size"), ToolCall.of("GetHotels", average_star="5"))
    return [kinds[k % 2] for k in range(n)]


def plain(n: int) -> list[ToolCall]:
    """n calls that express nothing."""
    return [ToolCall.of("GetWeather", city=f"Town {k}") for k in range(n)]


def rng() -> random.Random:
    return random.Random(5)
