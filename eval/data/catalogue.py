"""The tools of MPT: 29 functions, the part of them shown with context-free queries, and 7 functions seen in no history.

Sources: PRefine Table 9 (base), Table 18 and appendix D.6 (unseen). Enums are the values seen in the corpora, so
places, names and categories are open; classes, modes and the like are closed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from prefine_dspy.tools import Catalogue, Tool

SchemaName = Literal["base", "base_cf", "extended"]
SCHEMA_VERSION = "1"

_FOLDER = Path(__file__).parent / "schema"
_TOOLS = TypeAdapter(list[Tool])

# appendix D.6 shows the seven unseen functions beside the functions of SGD only: no GetFood, nothing of the home
_SGD_FUNCTIONS = (
    *("GetBanks", "GetBuses", "GetEvents", "GetFlights", "GetHomes", "GetHotels", "GetMedia", "GetMovies", "GetMusic"),
    *("GetRentalCars", "GetRestaurants", "GetRideSharing", "GetTravel", "GetWeather"),
)


@cache
def base_catalogue() -> Catalogue:
    """The 29 functions with all their arguments: what a context-guided query is asked with."""
    return Catalogue(_read("base.json"))


@cache
def context_free_catalogue() -> Catalogue:
    """The 24 functions that have preference slots, with these slots only: what a context-free query is asked with."""
    slots = _slots()["base"]
    return Catalogue(
        tool.model_copy(update={"parameters": tuple(p for p in tool.parameters if p.name in slots[tool.name])})
        for tool in base_catalogue()
        if tool.name in slots
    )


@cache
def extended_catalogue() -> Catalogue:
    """SGD's 14 functions and the 7 that no history calls (appendix D.6), for both query types."""
    known = [tool for tool in base_catalogue() if tool.name in _SGD_FUNCTIONS]
    return Catalogue(known + _read("unseen.json"))


@cache
def unseen_functions() -> tuple[str, ...]:
    """Names of the 7 functions that no history calls."""
    return tuple(_slots()["unseen"])


def preference_slots() -> dict[str, tuple[str, ...]]:
    """By function, the arguments that say how this user likes it: MPT's list, and those of Table 19."""
    return {name: tuple(slots) for part in _slots().values() for name, slots in part.items()}


def catalogues() -> dict[str, Catalogue]:
    """All catalogues by schema name: "base", "base_cf" (context-free queries), "extended"."""
    return {"base": base_catalogue(), "base_cf": context_free_catalogue(), "extended": extended_catalogue()}


def _read(file: str) -> list[Tool]:
    return _TOOLS.validate_json((_FOLDER / file).read_bytes())


@cache
def _slots() -> dict[str, dict[str, list[str]]]:
    slots: dict[str, dict[str, list[str]]] = json.loads((_FOLDER / "preference_slots.json").read_text(encoding="utf-8"))
    return slots
