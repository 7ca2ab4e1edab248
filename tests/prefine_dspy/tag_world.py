"""A catalogue and tagged sentences of our own, for the tests of tags."""

import random

from prefine_dspy.tagging import Action, Span, Tagged
from prefine_dspy.tools import Catalogue, Parameter, Tool


def tool(name, *parameters):
    return Tool(name=name, parameters=tuple(p if isinstance(p, Parameter) else Parameter(name=p) for p in parameters))


def flag(name):
    return Parameter(name=name, type="boolean")


TOOLS = Catalogue(
    [
        tool("GetHouseStays", "where_to", "rating", flag("has_laundry_service"), "check_in_date", "check_out_date"),
        tool("GetHotels", "location", "hotel_name", "average_rating", flag("pets_welcome"), flag("has_wifi")),
        tool(
            "GetRestaurants",
            *("restaurant_name", "city", "cuisine", "street_address", flag("serves_alcohol")),
            Parameter(name="price_range", enum=("inexpensive", "moderate", "expensive", "very expensive")),
        ),
        tool("GetSalons", "stylist_name", "city", flag("is_unisex"), "appointment_date", "appointment_time"),
    ]
)


def tagged(text, *actions):
    """`tagged("Thai in Rome", ("GetRestaurants", "Thai in Rome", ("cuisine", "Thai")))`: words instead of offsets."""

    def at(words, start=0):
        place = text.index(words, start)
        return place, place + len(words)

    return Tagged(
        text,
        tuple(
            Action(name, *at(words), tuple(Span(slot, *at(value)) for slot, value in slots))
            for name, words, *slots in actions
        ),
    )


THAI = tagged(
    "If I want Thai food, make it cheap.",
    ("GetRestaurants", "If I want Thai food, make it cheap.", ("cuisine", "Thai"), ("price_range", "cheap")),
)
THAI_ANGLE = "<a:GET_RESTAURANTS> If I want <sl:CUISINE> Thai</sl> food, make it <sl:PRICE_RANGE> cheap</sl>.</a>"
THAI_BRACKET = "[IN:GET_RESTAURANTS If I want [SL:CUISINE Thai ] food, make it [SL:PRICE_RANGE cheap ]. ]"
NESTED = tagged(
    "When I book hotels, also look at house stays in Porto.",
    ("GetHotels", "When I book hotels, also look at house stays in Porto."),
    ("GetHouseStays", "also look at house stays in Porto.", ("where_to", "Porto")),
)
TWO = tagged(
    "Show both hotels and salons in Bern to me.",
    ("GetHotels", "hotels"),
    ("GetSalons", "salons in Bern", ("city", "Bern")),
)
NOISE = (
    *(
        "[IN:GET_HOTELS ",
        "[SL:CITY ",
        "[SL: ",
        "]",
        "[",
        "</a>",
        "</sl>",
        "<a:GetX>",
        "<sl:",
        "<a:",
        "[/IN]",
        "```",
        "\n",
    ),
    *("\n\n", ":", " ", "  ", "'", "<", ">", "é", "\ud800", "\x00", "GET_", "x", "[[", "]]", "<a:><sl:>"),
)


def mutated(text, random_numbers: random.Random):
    """The text with some pieces cut out, doubled, or noise put in."""
    for _ in range(random_numbers.randint(1, 6)):
        a, b = sorted(random_numbers.randint(0, len(text)) for _ in range(2))
        b = min(b, a + 12)
        text = text[:a] + random_numbers.choice(("", text[a:b] * 2, random_numbers.choice(NOISE))) + text[b:]
    return text
