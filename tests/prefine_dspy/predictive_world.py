"""A few tools, and an LM that understands four preferences, for the tests of prediction."""

import re

from small_world import session

from prefine_dspy.lm.values import ValueDistribution
from prefine_dspy.predictive.lift import Lift
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import ToolCall

TOOLS = Catalogue(
    [
        Tool(
            name="GetFlights",
            parameters=(
                Parameter(name="flight_class", enum=("Economy", "Business")),
                Parameter(name="passengers"),
                Parameter(name="destination", transient=True),
            ),
        ),
        Tool(
            name="GetHotels",
            parameters=(
                Parameter(name="average_star", enum=("1", "2", "3", "4", "5")),
                Parameter(name="has_wifi", type="boolean"),
            ),
        ),
        Tool(name="GetRestaurants", parameters=(Parameter(name="price_range", enum=("cheap", "fair", "pricey")),)),
        Tool(name="GetEvents", parameters=(Parameter(name="tickets"), Parameter(name="city", transient=True))),
        Tool(name="GetMusic", parameters=(Parameter(name="artist"),)),
        Tool(name="GetMovies", parameters=(Parameter(name="starring"),)),
        Tool(name="GetHeating", parameters=(Parameter(name="eco_mode", enum=("on",)), Parameter(name="temperature"))),
    ]
)
CHEAP, DEAR, ALONE = "The user prefers low cost", "The user prefers luxury", "The user travels alone"
_NULL = {
    "flight_class": {"Economy": 0.5, "Business": 0.5},
    "average_star": dict.fromkeys("12345", 0.2),
    "price_range": {"cheap": 0.3, "fair": 0.4, "pricey": 0.3},
    "has_wifi": {"True": 0.5, "False": 0.5},
    "passengers": {"1": 0.4, "2": 0.4, "3": 0.2},
    "tickets": {"1": 0.3, "2": 0.5, "3": 0.2},
    "artist": {"Jay Chou": 0.1},
    "starring": {"Jay Chou": 0.1},
    "eco_mode": {"on": 0.3},
    "temperature": {"21": 0.5, "25": 0.5},
}
_GIVEN = {
    "low cost": {
        "flight_class": {"Economy": 0.9, "Business": 0.1},
        "average_star": {"1": 0.5, "2": 0.35, "3": 0.1, "4": 0.03, "5": 0.02},
        "price_range": {"cheap": 0.8, "fair": 0.15, "pricey": 0.05},
    },
    "luxury": {
        "flight_class": {"Economy": 0.1, "Business": 0.9},
        "average_star": {"1": 0.02, "2": 0.03, "3": 0.1, "4": 0.35, "5": 0.5},
        "price_range": {"cheap": 0.05, "fair": 0.15, "pricey": 0.8},
    },
    "alone": {"passengers": {"1": 0.95, "2": 0.05}, "tickets": {"1": 0.95, "2": 0.05}},
    "Jay Chou": {"artist": {"Jay Chou": 0.8}, "starring": {"Jay Chou": 0.7}},
    "energy": {"eco_mode": {"on": 0.9}},
}


def taste(prompt):
    """What the LM would write after a prompt."""
    field = re.search(r'"(\w+)":"$', prompt)[1]
    memory = prompt.rpartition("memory: ")[2]
    return next((given[field] for said, given in _GIVEN.items() if said in memory and field in given), _NULL[field])


def call(name, **arguments):
    return ToolCall.of(name, **arguments)


FLIGHT, HOTEL, FOOD = (
    call("GetFlights", flight_class="Economy", destination="Oslo"),
    call("GetHotels", average_star="1"),
    call("GetRestaurants", price_range="cheap"),
)
DEAR_FLIGHT, DEAR_HOTEL, DEAR_FOOD = (
    call("GetFlights", flight_class="Business"),
    call("GetHotels", average_star="5"),
    call("GetRestaurants", price_range="pricey"),
)
CHEAP_SESSIONS = (session("s1", FLIGHT), session("s2", HOTEL), session("s3", FOOD))


def lift(given, null):
    """From probabilities by value."""
    return Lift(_distribution(given, null), _distribution(null, null))


def _distribution(probabilities, values):
    return ValueDistribution(tuple(values), tuple(probabilities.get(one, 0.0) for one in values), "exact")
