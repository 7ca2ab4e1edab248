"""The catalogues against what the paper and the specification list."""

import pytest

from eval.data.catalogue import (
    base_catalogue,
    catalogues,
    context_free_catalogue,
    extended_catalogue,
    preference_slots,
    unseen_functions,
)
from eval.data.preferences import Mapping
from prefine_dspy.tools import Catalogue
from prefine_dspy.types import ToolCall


def test_sizes_are_those_of_the_paper() -> None:
    assert (len(base_catalogue()), len(context_free_catalogue()), len(extended_catalogue())) == (29, 24, 21)
    assert set(catalogues()) == {"base", "base_cf", "extended"}
    assert len(unseen_functions()) == 7
    assert not any(name in base_catalogue() for name in unseen_functions())


def test_context_free_shows_preference_slots_only() -> None:
    for tool in context_free_catalogue():
        assert {p.name for p in tool.parameters} == set(preference_slots()[tool.name])
    for name in ("GetBlinds", "GetCurtain", "GetGarageDoor", "GetTrash", "GetWeather"):
        assert name not in context_free_catalogue()


@pytest.mark.parametrize("catalogue", catalogues().values(), ids=catalogues().keys())
def test_preference_slots_exist_and_are_never_transient(catalogue: Catalogue) -> None:
    for tool in catalogue:
        for name in preference_slots().get(tool.name, ()):
            parameter = tool.parameter(name)
            assert parameter is not None and not parameter.transient, f"{tool.name}.{name}"


def test_dates_times_and_places_are_transient() -> None:
    words = ("date", "time", "area", "city", "location", "destination", "origin", "action", "resort", "park")
    for catalogue in catalogues().values():
        for tool in catalogue:
            for parameter in tool.parameters:
                if any(parameter.name == word or parameter.name.endswith(f"_{word}") for word in words):
                    assert parameter.transient, f"{tool.name}.{parameter.name}"


def test_places_suggest_and_classes_constrain() -> None:
    base = base_catalogue()
    fine = ToolCall.of("GetFlights", origin="Ulan Bator", flight_class="Economy", airlines="Some Air")
    assert base.problems(fine) == []
    assert [p.argument for p in base.problems(ToolCall.of("GetFlights", flight_class="Business"))] == ["flight_class"]
    assert base.problems(ToolCall.of("GetHotels", average_star="2", has_wifi="True")) == []


def test_every_preference_can_be_expressed_in_its_catalogue() -> None:
    mapping = Mapping()
    for stance in mapping.stances():
        for catalogue, realisations in (
            (base_catalogue(), mapping.realisations(stance)),
            (extended_catalogue(), mapping.unseen_realisations(stance)),
        ):
            for function, argument, values in realisations:
                assert argument in preference_slots()[function]
                for value in values:
                    assert catalogue.problems(ToolCall(name=function, arguments={argument: value})) == []


def test_no_base_tool_of_the_home_is_shown_with_the_unseen_ones() -> None:
    assert "GetFood" not in extended_catalogue() and "GetLight" not in extended_catalogue()
    assert extended_catalogue().get("GetFlights") == base_catalogue().get("GetFlights")
