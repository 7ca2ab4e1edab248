import pytest

from prefine_dspy.errors import InputError
from prefine_dspy.tools import Catalogue, Parameter, Problem, Tool
from prefine_dspy.types import ToolCall

FLIGHTS = Tool(
    name="GetFlights",
    description="find a flight",
    parameters=(
        Parameter(name="flight_class", enum=("Economy", "Business")),
        Parameter(name="destination", enum=("Paris", "Rome", "Oslo", "Lima"), open=True, transient=True, required=True),
        Parameter(name="refundable", type="boolean"),
        Parameter(name="passengers", type="integer", description="how many"),
        Parameter(name="tags", type="array"),
    ),
)
TOOLS = Catalogue([FLIGHTS, Tool(name="GetTime")])


def test_a_tool_on_one_line():
    assert FLIGHTS.prompt_line() == (
        "GetFlights(flight_class: Economy|Business, destination: e.g. Paris|Rome|Oslo, refundable: True|False, "
        "passengers: integer (how many), tags: array): find a flight"
    )
    assert Tool(name="GetTime").prompt_line() == "GetTime()"


def test_a_catalogue_is_one_line_a_tool_in_its_order():
    assert TOOLS.prompt_text().splitlines() == [FLIGHTS.prompt_line(), "GetTime()"]
    assert [tool.name for tool in TOOLS] == ["GetFlights", "GetTime"]
    assert len(TOOLS) == 2


def test_only_closed_sets_are_choices():
    choices = {parameter.name: parameter.choices() for parameter in FLIGHTS.parameters}
    assert choices == {
        "flight_class": ("Economy", "Business"),
        "destination": (),
        "refundable": ("True", "False"),
        "passengers": (),
        "tags": (),
    }


def test_looking_up():
    assert TOOLS.get("GetFlights") is FLIGHTS
    assert "GetTime" in TOOLS
    assert TOOLS.get("GetHotels") is None
    assert FLIGHTS.parameter("tags") == Parameter(name="tags", type="array")
    assert FLIGHTS.parameter("colour") is None


def test_a_catalogue_needs_a_tool():
    with pytest.raises(InputError, match="at least one tool"):
        Catalogue([])


def test_names_must_differ_and_the_error_names_them():
    with pytest.raises(InputError, match="more than once: GetTime"):
        Catalogue([Tool(name="GetTime"), FLIGHTS, Tool(name="GetTime")])


@pytest.mark.parametrize(
    ("call", "problems"),
    [
        (ToolCall.of("GetFlights", destination="Quito", flight_class="Economy", refundable=True), []),
        (ToolCall.of("GetFlight"), [Problem("unknown_function", "GetFlight")]),
        (
            ToolCall.of("GetFlights", destination="Rome", colour="red"),
            [Problem("unknown_argument", "GetFlights", "colour")],
        ),
        (
            ToolCall.of("GetFlights", destination="Rome", flight_class=["Economy", "First"]),
            [Problem("value_not_allowed", "GetFlights", "flight_class", "First")],
        ),
        (
            ToolCall.of("GetFlights", flight_class="Economy"),
            [Problem("missing_required", "GetFlights", "destination")],
        ),
        (ToolCall.of("GetFlights", destination="Rome", tags=["a", "b"]), []),
    ],
)
def test_problems_of_a_call(call, problems):
    assert TOOLS.problems(call) == problems


def test_what_is_done_this_once_is_no_evidence():
    call = ToolCall.of("GetFlights", destination="Paris", flight_class="Business")
    assert TOOLS.persistent(call) == ToolCall.of("GetFlights", flight_class="Business")
    assert TOOLS.persistent(ToolCall.of("GetHotels", a="1")) == ToolCall.of("GetHotels", a="1")
