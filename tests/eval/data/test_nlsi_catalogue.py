"""NLSI's functions as a catalogue of ours."""

from eval.data.nlsi_catalogue import nlsi_catalogue
from prefine_dspy.types import ToolCall

call = ToolCall.of


def test_functions_and_arguments() -> None:
    tools = nlsi_catalogue()
    assert len(tools) == 17 and "GetHouseStays" in tools
    assert sum(len(tool.parameters) for tool in tools) == 139
    everything = nlsi_catalogue(with_unused=True)
    assert sum(len(tool.parameters) for tool in everything) == 145
    assert everything.problems(call("GetFlights", origin_airport="x")) == []
    assert [problem.kind for problem in tools.problems(call("GetFlights", origin_airport="x"))] == ["unknown_argument"]


def test_closed_sets_constrain_and_open_ones_suggest() -> None:
    tools = nlsi_catalogue()
    for wrong in (
        call("GetMovies", show_type="4d"),
        call("GetHotels", has_wifi="fast"),
        call("GetRestaurants", price_range="cheap"),
    ):
        assert [problem.kind for problem in tools.problems(wrong)] == ["value_not_allowed"]
    for right in (
        call("GetMovies", show_type="3d", genre="noir"),
        call("GetHotels", has_wifi="True"),
        call("GetEvents", event_type="Baseball", category="Music"),
        call("GetTravel", category="Soccer"),
    ):
        assert tools.problems(right) == []


def test_every_argument_may_be_indifferent_or_asked_for() -> None:
    tools = nlsi_catalogue()
    for tool in tools:
        for marker in ("any", "?"):
            assert tools.problems(ToolCall(name=tool.name, arguments={p.name: marker for p in tool.parameters})) == []


def test_prompt_text_is_short_and_tells_confusable_arguments_apart() -> None:
    text = nlsi_catalogue().prompt_text()
    assert len(text) < 3500
    for piece in ("location: (city)", "GetTravel(", "not transport", "where_to: (city)", "e.g. Music|Sports"):
        assert piece in text
