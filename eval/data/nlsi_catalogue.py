"""The 17 functions of NLSI as a tool catalogue (TAPS section 4; names as in the gold calls).

Closed sets are those that every gold value of the regenerated train and validation splits respects. Two lists only
suggest: Travel's category (its gold holds sports and music styles as well) and Events' event_type (which swaps
values with category). At every argument a value may also be a marker: "any" (explicitly no preference) or "?" (asked
for). No argument is transient: an instruction may set a city, a date or a time.
"""

from __future__ import annotations

from functools import cache

from prefine_dspy.tools import Catalogue, Parameter, Tool

MARKERS = ("any", "?")
"""What gold calls say for "I do not mind" and for "tell me"."""

_BOOLEANS = frozenset(
    "has_wifi pets_allowed subtitles offers_cosmetic_services has_laundry_service is_unisex good_for_kids "
    "has_live_music pets_welcome serves_alcohol is_redeye furnished free_entry refundable".split()
)
_CLOSED: dict[str, tuple[str, ...]] = {
    "GetBanks.recipient_account_type": ("checking", "savings"),
    "GetBuses.fare_type": ("Economy", "Economy extra", "Flexible"),
    "GetFlights.airlines": (
        *("United Airlines", "American Airlines", "Delta Airlines", "Southwest Airlines", "Alaska Airlines"),
        *("British Airways", "Air Canada", "Air France"),
    ),
    "GetFlights.seating_class": ("Economy", "Premium Economy", "Business", "First Class"),
    "GetMovies.show_type": ("regular", "3d", "imax"),
    "GetMusic.playback_device": ("TV", "kitchen speaker", "bedroom speaker"),
    "GetDoctors.type": (
        *("Gynecologist", "ENT Specialist", "Ophthalmologist", "General Practitioner", "Dermatologist"),
    ),
    "GetRentalCars.car_type": ("Compact", "Standard", "Full-size"),
    "GetRestaurants.price_range": ("inexpensive", "moderate", "expensive", "very expensive"),
}
_OPEN: dict[str, tuple[str, ...]] = {
    "GetEvents.event_type": ("Music", "Sports"),
    "GetTravel.category": (
        *("Place of Worship", "Theme Park", "Museum", "Historical Landmark", "Park", "Tourist Attraction"),
        *("Sports Venue", "Shopping Area", "Performing Arts Venue", "Nature Preserve"),
    ),
}
_FUNCTIONS: dict[str, tuple[str, str]] = {
    "GetBanks": ("bank accounts and transfers", "recipient_account_name amount recipient_account_type"),
    "GetBuses": (
        "bus tickets between cities",
        "origin destination departure_date departure_time fare_type transfers price group_size",
    ),
    "GetEvents": (
        "concerts and sports games",
        "event_name city category event_type number_of_tickets time date venue_address",
    ),
    "GetFlights": (
        "plane tickets",
        "origin destination departure_date return_date outbound_departure_time outbound_arrival_time "
        "inbound_departure_time inbound_arrival_time airlines seating_class refundable number_stops is_redeye fare "
        "passengers",
    ),
    "GetHomes": (
        "apartments to live in",
        "area address property_name rent number_of_beds number_of_baths furnished pets_allowed visit_date phone_number",
    ),
    "GetHotels": (
        "hotel rooms",
        "location hotel_name average_rating price has_wifi pets_welcome number_of_rooms number_of_days check_in_date "
        "check_out_date phone_number street_address",
    ),
    "GetHouseStays": (
        "private houses for a holiday",
        "where_to rating has_laundry_service number_of_adults check_in_date check_out_date total_price address "
        "phone_number",
    ),
    "GetMedia": ("films to stream at home", "title directed_by subtitles genre"),
    "GetMovies": (
        "films shown in cinemas",
        "movie_name genre theater_name location show_date show_time show_type number_of_tickets price street_address",
    ),
    "GetMusic": ("songs to play", "song_name artist album year genre playback_device"),
    "GetRentalCars": (
        "cars to rent",
        "car_name car_type pickup_city pickup_location pickup_date pickup_time dropoff_date total_price",
    ),
    "GetRestaurants": (
        "places to eat",
        "restaurant_name city cuisine price_range has_live_music serves_alcohol date time party_size phone_number "
        "street_address",
    ),
    "GetSalons": (
        "hairdressers",
        "stylist_name city is_unisex average_rating appointment_date appointment_time phone_number street_address",
    ),
    "GetDentists": (
        "dentists",
        "dentist_name city offers_cosmetic_services appointment_date appointment_time address phone_number",
    ),
    "GetDoctors": (
        "doctors",
        "doctor_name type city average_rating appointment_date appointment_time phone_number street_address",
    ),
    "GetTravel": (
        "sights to visit, not transport",
        "attraction_name location category free_entry good_for_kids phone_number",
    ),
    "GetWeather": ("the weather forecast", "city date temperature precipitation humidity wind"),
}
_UNUSED: dict[str, str] = {
    "GetBuses": "origin_station_name destination_station_name",
    "GetEvents": "event_location address_of_location",
    "GetFlights": "origin_airport destination_airport",
}
# what a request says once for all of its calls; a car may be picked up elsewhere than what one goes to
_CONTEXTS: dict[str, str] = {
    **dict.fromkeys(("city", "location", "area", "where_to", "destination"), "place"),
    **dict.fromkeys(
        ("date", "departure_date", "check_in_date", "show_date", "pickup_date", "visit_date", "appointment_date"),
        "date",
    ),
    **dict.fromkeys(("return_date", "check_out_date", "dropoff_date"), "end date"),
}
_DESCRIPTIONS: dict[str, str] = {
    "GetEvents.category": "style of music or kind of sport, e.g. Jazz, Baseball",
    "GetHomes.area": "city",
    "GetHotels.location": "city",
    "GetHotels.average_rating": "stars",
    "GetHouseStays.where_to": "city",
    "GetHouseStays.rating": "of guests, up to 5",
    "GetMovies.location": "city",
    "GetRentalCars.pickup_location": "station or airport",
    "GetSalons.stylist_name": "of the salon or person",
    "GetDentists.dentist_name": "of the practice or person",
    "GetDoctors.doctor_name": "of the practice or person",
    "GetDoctors.type": "specialty",
    "GetTravel.location": "city",
    "GetTravel.category": (
        "also Historical Landmark, Park, Tourist Attraction, Sports Venue, Shopping Area, Performing Arts Venue, "
        "Nature Preserve"
    ),
}


@cache
def nlsi_catalogue(with_unused: bool = False) -> Catalogue:
    """The catalogue, functions and arguments in the order of TAPS's prompts.

    Args:
        with_unused: also the six arguments that the published prompts list for stations, airports and venues, and no
            gold call has.
    """
    return Catalogue(_tool(name, with_unused) for name in _FUNCTIONS)


def _tool(name: str, with_unused: bool) -> Tool:
    description, arguments = _FUNCTIONS[name]
    names = [*arguments.split(), *(_UNUSED.get(name, "").split() if with_unused else ())]
    return Tool(name=name, description=description, parameters=tuple(_parameter(name, one) for one in names))


def _parameter(function: str, name: str) -> Parameter:
    place = f"{function}.{name}"
    suggested = _OPEN.get(place, ())
    return Parameter(
        name=name,
        copied=True,
        type="boolean" if name in _BOOLEANS else "string",
        description=_DESCRIPTIONS.get(place, ""),
        enum=suggested or _CLOSED.get(place, ()),
        open=bool(suggested),
        markers=MARKERS,
        context=_CONTEXTS.get(name, ""),
    )
