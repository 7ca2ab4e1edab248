"""The worlds the invented users live in: what their requests are about, which varies from one to the next."""

from __future__ import annotations

import random

from prefine_dspy.types import ToolCall

# invented, so that an LM cannot know them: whom a user likes must be read off the history
STARS = ("Mara Ellerin", "Tobin Vasska", "Ilse Corrantine", "Dario Quellman", "Juno Halvarde", "Petra Lindovar")
FILMS = ("The Salt Road", "Nine Lanterns", "A Quiet Orchard", "Copper Sky", "The Last Ferry Home", "Paper Wolves")
SONGS = ("Window Seat", "Low Tide", "Carousel in Snow", "Half a Mile", "Tin Roof Waltz", "Blue Ladder")
DISHES = ("lentil curry", "mushroom risotto", "fish tacos", "beef noodle soup", "spinach pie", "pumpkin stew")
CITIES = ("Oakland", "Tucson", "Bristol", "Lyon", "Porto", "Boise", "Leeds", "Turin", "Reno", "Graz")
AREAS = ("Alameda", "Pinole", "Benicia", "Moraga", "Albany", "Tiburon")
CUISINES = ("Thai", "Greek", "Mexican", "Indian", "Korean", "French", "Ethiopian", "Sushi")
SIGHTS = ("Museum", "Park", "Historical Landmark", "Shopping Area", "Sports Venue", "Theme Park")
GENRES = ("Comedy", "Drama", "Mystery", "Horror", "Fantasy", "Adventure")
AIRLINES = ("Delta Airlines", "United Airlines", "Alaska Airlines", "Southwest Airlines")
STREETS = (
    "12 Mill Lane",
    "480 Harbor Street",
    "7 Station Square",
    "233 Elm Avenue",
    "91 Orchard Road",
    "5 Quay Street",
)
ROOMS = ("living_room", "master_bedroom", "guest_bedroom", "bathroom", "study_room", "kitchen")


def request(function: str, chosen: dict[str, str], rng: random.Random) -> ToolCall:
    """A call of the function: what it is about is drawn, how it is wanted is `chosen`."""
    about = _about(function, rng)
    return ToolCall(name=function, arguments={**about, **chosen})


def date(rng: random.Random) -> str:
    """An ISO date in the months before the queries of the benchmark."""
    return f"{rng.choice(('2018-10', '2018-11', '2018-12', '2019-01'))}-{rng.randint(1, 28):02d}"


def time(rng: random.Random) -> str:
    return f"{rng.randint(11, 20):02d}:{rng.choice(('00', '15', '30', '45'))}"


def _about(function: str, rng: random.Random) -> dict[str, str]:
    here, there = rng.sample(CITIES, 2)
    day, hour, room = date(rng), time(rng), rng.choice(ROOMS)
    on = {"action": "turn_on", "area": room}
    abouts: dict[str, dict[str, str]] = {
        "GetRestaurants": {"category": rng.choice(CUISINES), "city": here, "date": day, "time": hour},
        "GetRentalCars": {"pickup_city": here, "pickup_date": day, "pickup_time": hour},
        "GetHotels": {"location": here, "check_in_date": day, "number_of_days": str(rng.randint(2, 7))},
        "GetRideSharing": {"destination": rng.choice(STREETS)},
        "GetTravel": {"location": here},
        "GetFlights": {"origin": here, "destination": there, "departure_date": day},
        "GetBuses": {"origin": here, "destination": there, "departure_date": day, "departure_time": hour},
        "GetEvents": {"city": here},
        "GetHomes": {"area": rng.choice(AREAS)},
        "GetMusic": {},
        "GetMovies": {},
        "GetFood": {"food_name": rng.choice(DISHES)},
        "GetBanks": {},
        "GetWeather": {"city": here, "date": day},
        "GetAirConditioner": on,
        "GetHeating": on,
        "GetWaterHeater": on,
        "GetLight": on,
        "GetFan": on,
        "GetMediaPlayer": {"area": rng.choice(("living_room", "master_bedroom"))},
        "GetCurtain": {"area": rng.choice(("living_room", "study_room")), "action": rng.choice(("open", "close"))},
    }
    return abouts[function]
