"""A small catalogue and a user's sessions, for the tests of the programs' parts."""

from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import Session, ToolCall, Turn

FLIGHTS = Tool(
    name="GetFlights",
    parameters=(
        Parameter(name="flight_class", enum=("Economy", "Business")),
        Parameter(name="passengers"),
        Parameter(name="airlines"),
        Parameter(name="destination", transient=True),
        Parameter(name="date", transient=True),
    ),
)
HOTELS = Tool(
    name="GetHotels",
    parameters=(
        Parameter(name="average_star", enum=("1", "2", "3", "4", "5")),
        Parameter(name="has_wifi", type="boolean"),
        Parameter(name="city", enum=("Paris", "Rome"), open=True, transient=True),
    ),
)
TOOLS = Catalogue([FLIGHTS, HOTELS])


def session(id, *calls, talk="Book it please."):
    return Session(id=id, turns=(Turn(role="user", text=talk), Turn(role="assistant", text="Done.")), calls=calls)


def flight(flight_class="Economy", **more):
    return ToolCall.of("GetFlights", flight_class=flight_class, **more)


SESSIONS = (
    session("s1", flight("Economy", destination="Paris", date="March 5th")),
    session("s2", ToolCall.of("GetHotels", average_star="2", city="Rome"), talk="A simple hotel in Rome."),
    session("s3", flight("Economy", destination="Oslo")),
)
