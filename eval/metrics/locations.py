"""Names of places that mean the same: "SF", "San Fran" and "San Francisco, CA".

Two readers with different needs:
- the strict scorer asks `same_place`, which knows the names below and understands a region after a comma;
- the reference scorer needs the published evaluator's alias table (a JSON object of 263 entries, `data/locations.json`
  of TAPS), whose accidents move the paper's numbers. It is TAPS's data and not part of this repository: `find_aliases`
  reads it from a file, and says what it fell back to where there is none.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from prefine_dspy.errors import InputError

PUBLISHED_TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "taps" / "locations.json"
"""Where the published table is looked for unless a file is named: beside the checkout."""
NO_TABLE = "none"

# ------------------------------------------------------------------------------------------------------ our own names


class City(NamedTuple):
    """A city: its regions, from state to country, and the other names that people use for it."""

    regions: tuple[str, ...]
    names: tuple[str, ...]


CITIES: dict[str, City] = {
    "atlanta": City(("georgia", "usa"), ("atl",)),
    "chicago": City(("illinois", "usa"), ("chi", "chi-town", "windy city")),
    "delhi": City(("india",), ("new delhi", "del")),
    "dublin": City(("ireland", "california"), ()),
    "kuala lumpur": City(("malaysia",), ("kl", "kul")),
    "las vegas": City(("nevada", "usa"), ("vegas", "las")),
    "london": City(("england", "uk"), ("lon", "lhr")),
    "los angeles": City(("california", "usa"), ("la", "lax")),
    "mexico city": City(("mexico",), ("cdmx", "mex")),
    "nairobi": City(("kenya",), ("nbo",)),
    "new york": City(("new york", "usa"), ("new york city", "ny", "nyc", "the big apple")),
    "oakland": City(("california", "usa"), ("oak",)),
    "paris": City(("france",), ("cdg",)),
    "philadelphia": City(("pennsylvania", "usa"), ("philly",)),
    "phoenix": City(("arizona", "usa"), ("phx",)),
    "portland": City(("oregon", "usa"), ("pdx",)),
    "sacramento": City(("california", "usa"), ("sac", "smf")),
    "san diego": City(("california", "usa"), ("sd",)),
    "san francisco": City(("california", "usa"), ("sf", "sfo", "san fran", "san fransico", "san fransisco", "frisco")),
    "san jose": City(("california", "usa"), ("sjc", "city of san jose")),
    "seattle": City(("washington", "usa"), ("sea", "emerald city")),
    "sydney": City(("new south wales", "australia"), ("syd",)),
    "toronto": City(("ontario", "canada"), ("yyz",)),
    "vancouver": City(("british columbia", "canada"), ("yvr",)),
    "washington": City(("district of columbia", "usa"), ("dc", "washington dc", "district of columbia")),
}
"""Cities with a nickname, an airport code or a region that is often said with them."""

TOWNS = """
    alameda, alamo, anaheim, antioch, belvedere, benicia, berkeley, burlingame, calistoga, castro valley, concord,
    corte madera, cupertino, danville, el cerrito, el sobrante, elk grove, emeryville, fairfield, foster city, fremont,
    fresno, hayward, larkspur, livermore, long beach, los altos, los gatos, martinez, menlo park, millbrae, milpitas,
    moraga, mountain view, napa, novato, occidental, palo alto, petaluma, pinole, pittsburg, pleasanton, redwood city,
    rohnert park, san anselmo, san bruno, san carlos, san leandro, san mateo, san rafael, san ramon, santa clara,
    santa rosa, saratoga, sausalito, sebastopol, st helena, stanford, sunnyvale, union city, vacaville, vallejo,
    walnut creek
"""
"""Towns around San Francisco and elsewhere in California, where most of the benchmark's requests play."""

REGIONS = {
    "az": "arizona",
    "bc": "british columbia",
    "ca": "california",
    "calif": "california",
    "dc": "district of columbia",
    "ga": "georgia",
    "il": "illinois",
    "nsw": "new south wales",
    "nv": "nevada",
    "ny": "new york",
    "on": "ontario",
    "or": "oregon",
    "pa": "pennsylvania",
    "wa": "washington",
    "united kingdom": "uk",
    "great britain": "uk",
    "united states": "usa",
    "us": "usa",
}
"""Short forms of states and countries."""

_KNOWN: dict[str, tuple[str, ...]] = {
    **{town: ("california", "usa") for town in " ".join(TOWNS.split()).split(", ")},
    **{name: city.regions for name, city in CITIES.items()},
}
_CITY_OF = {name: city for city, about in CITIES.items() for name in about.names} | {name: name for name in _KNOWN}
_REGION_NAMES = {*REGIONS.values(), *(region for regions in _KNOWN.values() for region in regions)}


class Place(NamedTuple):
    """A city with the region that was said with it, if one was."""

    city: str
    region: str | None = None


def same_place(a: str, b: str) -> bool:
    """Whether two texts name one place. Regions only count where both say one: Portland is Portland, OR."""
    first, second = read_place(a), read_place(b)
    if first.city != second.city:
        return False
    if first.region == second.region or first.region is None or second.region is None:
        return True
    # a state and its country do not contradict each other
    return {first.region, second.region} <= set(_KNOWN.get(first.city, ()))


@lru_cache(maxsize=100_000)
def read_place(text: str) -> Place:
    """The city that a text names, under its full name where it is a known one, and the region after a comma."""
    whole = _folded(text)
    if whole in _CITY_OF:
        return Place(_CITY_OF[whole])
    head, comma, tail = text.rpartition(",")
    region = REGIONS.get(_folded(tail), _folded(tail))
    if comma and region in _REGION_NAMES:
        city = read_place(head) if len(head) < len(text) and head.count(",") < 3 else Place(_folded(head))
        return Place(city.city, city.region or region)
    return Place(whole)


def _folded(text: str) -> str:
    plain = re.sub(r"[.,;]", "", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(plain.split())


# ------------------------------------------------------------------------------------------------ the published table


class Aliases(NamedTuple):
    """An alias table of the reference scorer: exact lower-case values and what replaces them.

    Args:
        table: the entries.
        source: what it is, for people.
        identity: sha256 over the file, `NO_TABLE` for our own names: two runs with different ones are not the same run.
    """

    table: Mapping[str, str]
    source: str
    identity: str


def find_aliases(path: Path | None = None) -> Aliases:
    """The published table from the named file, else from beside the checkout, else our own names in its form.

    Raises:
        InputError: a named file cannot be read or is no table.
    """
    if path is not None:
        return _read_table(path)
    return _default_aliases()


@lru_cache(maxsize=1)
def _default_aliases() -> Aliases:
    if PUBLISHED_TABLE.is_file():
        return _read_table(PUBLISHED_TABLE)
    return Aliases(
        own_table(),
        "our own names of places, which are not those of the published evaluator: "
        "for its exact scores pass --locations with data/locations.json of grill-lab/taps",
        NO_TABLE,
    )


def _read_table(path: Path) -> Aliases:
    try:
        content = path.read_bytes()
        table = json.loads(content)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: pass --locations with the alias table") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): pass --locations with the alias table") from error
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise InputError(f'{path} is no alias table: it must hold one JSON object of texts, {{"nyc": "new york", ...}}')
    return Aliases(table, f"{path.name} with {len(table)} entries", hashlib.sha256(content).hexdigest())


def own_table() -> dict[str, str]:
    """Our names as an exact table: every name of a known city, alone and with each of its regions."""
    table: dict[str, str] = {}
    short = {region: [code for code, full in REGIONS.items() if full == region] for region in _REGION_NAMES}
    for city, regions in _KNOWN.items():
        names = (city, *(CITIES[city].names if city in CITIES else ()))
        for name in names:
            table[name] = city
        for region in regions:
            for spelled in (region, *short[region]):
                table[f"{city}, {spelled}"] = city
    table |= {"washington, d.c.": "washington", "washington d.c.": "washington", "st. helena": "st helena"}
    # the published evaluator holds an empty replacement for this one city (a wrong San Jose thus equals "?")
    return {name: "" if city == "san jose" else city for name, city in table.items()}
