"""The latent preferences of MPT and the arguments that express them (PRefine Tables 2 and 19, appendix A.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from prefine_dspy.types import ToolCall

Rules = Literal["paper", "released"]
Triplet = tuple[str, str, str]

PREFERENCES = ("low_cost", "high_cost", "prefers_star", "eco", "solo_usage")
OTHER = "other"

# the celebrities of DuRecDial 2.0 that its personas like
CELEBRITIES = (
    *("Aaron Kwok", "Andy Lau", "Bingbing Fan", "Bo Huang", "Cecilia Cheung", "Hsu Chi", "Jackie Chan"),
    *("Jacky Cheung", "Jay Chou", "Jimmy Lin", "Jiong He", "Kris Wu", "Leehom Wang", "Leslie Cheung", "Mi Yang"),
    *("Na Xie", "Nicholas Tse", "Ruby Lin", "Xiaoming Huang", "Xun Zhou"),
)


class Stance(NamedTuple):
    """One side of a preference: "low_cost", or "prefers_star" with the celebrity it is about."""

    preference: str
    star: str = ""

    def __str__(self) -> str:
        return self.star or self.preference

    @property
    def axis(self) -> str:
        """What a history can hold two sides of: both costs share one axis, all celebrities another."""
        return _AXES.get(self.preference, self.preference)

    def opposes(self, other: Stance) -> bool:
        """The two cannot both be what one user prefers (appendix A.4)."""
        return self != other and self.axis == other.axis


class Realisation(NamedTuple):
    """How a function expresses a preference; `values` are alternatives (average_star = 1, 2)."""

    function: str
    argument: str
    values: tuple[str, ...]


_AXES = {"low_cost": "cost", "high_cost": "cost", "prefers_star": "star"}

_BASE: dict[str, tuple[Realisation, ...]] = {
    "low_cost": (
        Realisation("GetRestaurants", "price_range", ("cheap",)),
        Realisation("GetRentalCars", "car_type", ("Compact",)),
        Realisation("GetHotels", "average_star", ("1", "2")),
        Realisation("GetRideSharing", "shared_ride", ("True",)),
        Realisation("GetTravel", "free_entry", ("True",)),
        Realisation("GetFlights", "flight_class", ("Economy",)),
    ),
    "high_cost": (
        # not in Table 2, but in the released mapping
        Realisation("GetRestaurants", "price_range", ("pricey",)),
        Realisation("GetRentalCars", "car_type", ("Full-size",)),
        Realisation("GetHotels", "average_star", ("4", "5")),
    ),
    "eco": tuple(
        Realisation(name, "eco_mode", ("on",)) for name in ("GetAirConditioner", "GetHeating", "GetWaterHeater")
    ),
    "solo_usage": (
        Realisation("GetBuses", "group_size", ("1",)),
        Realisation("GetFlights", "passengers", ("1",)),
        Realisation("GetRideSharing", "number_of_seats", ("1",)),
        Realisation("GetEvents", "number_of_tickets", ("1",)),
        Realisation("GetRestaurants", "number_of_seats", ("1",)),
    ),
}
_STAR_ARGUMENTS = (("GetMovies", "starring"), ("GetMusic", "artist"))

_UNSEEN: dict[str, tuple[Realisation, ...]] = {
    "low_cost": (
        Realisation("GetCampground", "site_type", ("Tent site",)),
        Realisation("GetCookingClass", "class_type", ("Group class",)),
        Realisation("GetFitnessClass", "class_type", ("Group session",)),
        Realisation("GetSkiPass", "pass_type", ("Standard pass",)),
        Realisation("GetParkingSpot", "parking_type", ("Self-park garage",)),
        Realisation("GetThemePark", "ticket_type", ("General admission",)),
    ),
    "high_cost": (
        Realisation("GetCampground", "site_type", ("Glamping cabin",)),
        Realisation("GetCookingClass", "class_type", ("Private",)),
        Realisation("GetFitnessClass", "class_type", ("Personal training",)),
        Realisation("GetSkiPass", "pass_type", ("VIP pass",)),
        Realisation("GetParkingSpot", "parking_type", ("Valet",)),
        Realisation("GetThemePark", "ticket_type", ("VIP FastPass",)),
    ),
    "solo_usage": (
        Realisation("GetCampground", "number_of_guests", ("1",)),
        Realisation("GetCityTour", "number_of_people", ("1",)),
        Realisation("GetCookingClass", "number_of_attendees", ("1",)),
        Realisation("GetFitnessClass", "number_of_attendees", ("1",)),
        Realisation("GetSkiPass", "number_of_passes", ("1",)),
        Realisation("GetThemePark", "number_of_tickets", ("1",)),
    ),
}


class Mapping:
    """Which arguments express which preference.

    Args:
        stars: the celebrities a "prefers_star" can be about.
    """

    def __init__(self, stars: Iterable[str] = CELEBRITIES) -> None:
        self.stars = tuple(dict.fromkeys(stars))
        self._labels: dict[Triplet, Stance] = {}
        for stance in self.stances():
            for function, argument, values in self.realisations(stance):
                self._labels |= {(function, argument, value): stance for value in values}

    def stances(self) -> Iterator[Stance]:
        """Every stance there is."""
        yield from (Stance(name) for name in PREFERENCES if name != "prefers_star")
        yield from (Stance("prefers_star", star) for star in self.stars)

    def realisations(self, stance: Stance) -> tuple[Realisation, ...]:
        """How the base functions express the stance (Table 2), at most one argument a function."""
        if stance.preference == "prefers_star":
            return tuple(Realisation(function, argument, (stance.star,)) for function, argument in _STAR_ARGUMENTS)
        return _BASE.get(stance.preference, ())

    def unseen_realisations(self, stance: Stance) -> tuple[Realisation, ...]:
        """How the functions seen in no history express the stance (Table 19)."""
        return _UNSEEN.get(stance.preference, ())

    def label(self, triplet: Triplet) -> Stance | None:
        """The stance that (function, argument, value) expresses, or None."""
        return self._labels.get(triplet)

    def labels(self, call: ToolCall) -> list[Stance]:
        """The stances a call expresses, one for each argument that expresses one."""
        return [stance for triplet in call.triplets() if (stance := self.label(triplet))]

    def arguments(self, stance: Stance) -> set[tuple[str, str]]:
        """The (function, argument) pairs tied to the stance's axis, whichever side they express."""
        if stance.preference == "prefers_star":
            return set(_STAR_ARGUMENTS)
        sides = [side for side in _BASE if Stance(side).axis == stance.axis]
        return {(r.function, r.argument) for side in sides for r in _BASE[side]}
