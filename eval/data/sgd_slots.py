"""Which tool argument an SGD slot becomes: the schema normalisation of NLSI (Moghe et al. 2024), as MPT applies it.

SGD names the same thing differently from service to service ("travelers", "group_size"). MPT renames slots to one
name a function and drops the slots that the unified schema does not have (PRefine appendix A.2).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Protocol

from prefine_dspy.errors import InputError

# Services that share a name before "_" with others but are tools of their own.
_FUNCTIONS = {
    "Hotels_2": "GetHouseStays",
    "Services_1": "GetSalons",
    "Services_2": "GetDentists",
    "Services_3": "GetDoctors",
}

# NLSI's table names these domains in the singular.
_TABLE_DOMAINS = {"Salons": "Salon", "Dentists": "Dentist", "Doctors": "Doctor"}

# The services of SGD's dev split, so that MPT can be built without NLSI's table: the slots that stay, "slot>argument"
# where the argument has another name. Every other slot of these services is dropped.
_DEV_SERVICES = {
    "Alarm_1": "",
    "Banks_2": "account_type>recipient_account_type recipient_account_type",
    "Buses_1": "from_location>origin to_location>destination leaving_date>departure_date "
    "leaving_time>departure_time travelers>group_size",
    "Events_1": "category city_of_event>city date event_name number_of_seats>number_of_tickets subcategory>event_type",
    "Flights_3": "airlines departure_date destination_city>destination origin_city>origin flight_class passengers "
    "return_date",
    "Homes_1": "area furnished number_of_baths number_of_beds pets_allowed property_name visit_date",
    "Hotels_1": "check_in_date destination>location has_wifi hotel_name number_of_days number_of_rooms "
    "star_rating>average_star",
    "Hotels_4": "check_in_date location number_of_rooms star_rating>average_star",
    "Media_2": "genre",
    "Movies_2": "genre",
    "Music_1": "album artist genre playback_device song_name year",
    "RentalCars_1": "type>car_type dropoff_date pickup_city pickup_date pickup_location pickup_time",
    "Restaurants_2": "category date number_of_seats price_range restaurant_name time",
    "RideSharing_1": "destination number_of_riders>number_of_seats shared_ride",
    "Services_4": "",
    "Travel_1": "category free_entry good_for_kids location",
    "Weather_1": "city date",
}

# Arguments that MPT keeps although NLSI's table does not name them for the domain.
_ALSO_KEPT = {
    "Banks": "recipient_account_type",
    "Buses": "departure_date departure_time destination fare_type group_size origin",
    "Events": "category city date event_name event_type number_of_tickets time venue_address",
    "Flights": "airlines departure_date destination origin outbound_departure_time passengers refundable return_date "
    "seating_class flight_class",
    "Homes": "area number_of_baths number_of_beds pets_allowed",
    "Hotels": "average_star check_in_date check_out_date has_wifi hotel_name location number_of_days number_of_rooms "
    "pets_welcome",
    "HouseStays": "has_laundry_service rating where_to",
    "Media": "directed_by genre title",
    "Movies": "genre location movie_name number_of_tickets show_date show_time show_type street_address theater_name",
    "Music": "artist genre",
    "RentalCars": "car_type dropoff_date pickup_city pickup_date pickup_location pickup_time",
    "Restaurants": "city cuisine date has_live_music party_size price_range restaurant_name category serves_alcohol "
    "street_address time number_of_seats",
    "Travel": "category free_entry good_for_kids location phone_number",
    "Weather": "city date humidity wind",
}


def function_of(service: str) -> str:
    """The tool that an SGD service becomes: "Buses_1" -> "GetBuses"; several services may share one."""
    return _FUNCTIONS.get(service) or f"Get{service.rsplit('_', 1)[0]}"


class SlotRules(Protocol):
    """How slots are named and which are dropped."""

    def argument(self, service: str, slot: str) -> str | None:
        """The argument that a slot of a service becomes; None when it is dropped."""


class DevSlots:
    """The slots of the services in SGD's dev split, which are all that MPT uses; needs no file."""

    def __init__(self) -> None:
        self._arguments = {service: _renames(text) for service, text in _DEV_SERVICES.items()}

    def argument(self, service: str, slot: str) -> str | None:
        """See `SlotRules`.

        Raises:
            InputError: the service is not in SGD's dev split.
        """
        if service not in self._arguments:
            raise InputError(
                f"the slots of SGD service {service} are not built in (only those of the dev split are): "
                "pass --slot-table FILE with NLSI's common-domain-slots.tsv"
            )
        return self._arguments[service].get(slot)


class TableSlots:
    """The general rule, for every service: NLSI's table of slots that mean the same.

    Args:
        table: tab-separated, header `domain slot_1 slot_2 value`; `y` means that slot_1 is called slot_2.

    Raises:
        InputError: the file is missing or is no such table.
    """

    def __init__(self, table: Path) -> None:
        self._renamed: dict[str, dict[str, str]] = defaultdict(dict)
        self._kept: dict[str, set[str]] = defaultdict(set)
        for domain, slots in _ALSO_KEPT.items():
            self._kept[domain].update(slots.split())
        for domain, slot, other, value in _rows(table):
            self._kept[domain].update((slot, other))
            if value == "y":
                self._renamed[domain].update({slot: other, other: other})

    def argument(self, service: str, slot: str) -> str | None:
        """See `SlotRules`."""
        function = function_of(service)
        domain = function.removeprefix("Get")
        domain = _TABLE_DOMAINS.get(domain, domain)
        name = self._renamed[domain].get(slot)
        if name is None and slot in self._kept[domain]:
            name = slot
        # MPT has its own name for a hotel's rating.
        return "average_star" if (function, name) == ("GetHotels", "average_rating") else name


def slot_rules(table: Path | None = None) -> SlotRules:
    """The rules of a table when there is one, else the built-in ones of SGD's dev split."""
    return DevSlots() if table is None else TableSlots(table)


def _renames(text: str) -> dict[str, str]:
    pairs = (entry.partition(">") for entry in text.split())
    return {slot: argument or slot for slot, _, argument in pairs}


def _rows(table: Path) -> list[tuple[str, str, str, str]]:
    columns = ("domain", "slot_1", "slot_2", "value")
    try:
        with table.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t")
            if not set(columns) <= set(reader.fieldnames or ()):
                raise InputError(f"{table} is no slot table: its header must name {', '.join(columns)}, tab-separated")
            found = [[(row[column] or "").strip() for column in columns] for row in reader]
            return [(domain, slot, other, value.lower()) for domain, slot, other, value in found]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read the slot table {table}: {error}") from error
