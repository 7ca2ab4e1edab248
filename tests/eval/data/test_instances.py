"""The paper's rules: what a history makes of a query, and what it must not make of it."""

import pytest

from eval.data.instances import Facts, build_instances
from eval.instance import Evidence, Instance
from prefine_dspy.types import ToolCall
from tests.eval.data.made import MAPPING, cheap, dear, facts, history, plain, rng


def of(made: Facts, function: str, query_type: str = "cf") -> Instance | None:
    """The instance over a function, if there is one."""
    found = [i for i in build_instances(made, rng()) if i.gold[0].name == function and i.query_type == query_type]
    assert len(found) <= 1
    return found[0] if found else None


def test_recurs_once_never() -> None:
    made = facts(*cheap(3))  # two compact cars, one free sight
    car, sight, flight = of(made, "GetRentalCars"), of(made, "GetTravel"), of(made, "GetFlights")
    assert car and car.reasoning_type == "recall" and car.gold == (ToolCall.of("GetRentalCars", car_type="Compact"),)
    assert (
        sight and sight.reasoning_type == "induction" and sight.gold == (ToolCall.of("GetTravel", free_entry="True"),)
    )
    assert flight and flight.reasoning_type == "transfer"
    assert {i.preference for i in (car, sight, flight)} == {"low_cost"}
    assert flight.evidence == Evidence(supporting=3)


def test_a_context_guided_gold_also_has_what_is_stated() -> None:
    flight = of(facts(*cheap(2)), "GetFlights", "cg")
    assert flight and flight.gold[0].arguments == {
        "departure_date": "2019-03-09",
        "destination": "Seattle",
        "flight_class": "Economy",
        "origin": "San Francisco",
    }


def test_alternative_values_are_alternative_golds() -> None:
    hotel = of(facts(*cheap(2)), "GetHotels")
    assert hotel and [call.arguments["average_star"] for call in hotel.gold] == ["1", "2"]


def test_an_argument_seen_with_any_value_is_no_transfer() -> None:
    made = facts(*cheap(2), ToolCall.of("GetFlights", flight_class="Premium Economy"))
    assert of(made, "GetFlights") is None


def test_two_values_of_one_preference_once_each_have_no_single_answer() -> None:
    made = facts(*cheap(2), *(ToolCall.of("GetHotels", average_star=star) for star in ("1", "2")))
    assert of(made, "GetHotels") is None


def test_no_induction_beside_another_value_that_recurs() -> None:
    standard = ToolCall.of("GetRentalCars", car_type="Standard")
    made = facts(*cheap(2), cheap(2)[1], ToolCall.of("GetFlights", flight_class="Economy"), standard, standard)
    assert of(made, "GetRentalCars") is None


def test_recall_of_what_expresses_no_preference() -> None:
    airline = ToolCall.of("GetFlights", airlines="Delta", origin="Here")
    made = facts(airline, airline, *plain(3))
    flight = of(made, "GetFlights")
    assert flight and flight.preference == "other" and flight.evidence == Evidence(supporting=2, unrelated=3)
    assert flight.gold == (ToolCall.of("GetFlights", airlines="Delta"),)


def test_places_and_dates_are_never_recalled() -> None:
    assert (
        build_instances(facts(*[ToolCall.of("GetFlights", origin="Here", departure_date="2018-01-01")] * 3), rng())
        == []
    )


def test_a_function_with_two_open_answers_is_not_asked() -> None:
    single = [ToolCall.of("GetBuses", group_size="1"), ToolCall.of("GetEvents", number_of_tickets="1")]
    made = facts(*cheap(2), *single)
    assert of(made, "GetFlights") is None  # class and passengers would both be right
    assert of(made, "GetHotels") is not None


def test_stated_arguments_are_not_asked_for() -> None:
    drama = ToolCall.of("GetMovies", genre="Comedy")
    made = facts(drama, drama)
    assert of(made, "GetMovies", "cg") is None
    assert of(made, "GetMovies", "cf") is not None


def test_contested() -> None:
    made = facts(*dear(2), *cheap(4))  # full-size once, compact twice; five stars once
    flight, car = of(made, "GetFlights"), of(made, "GetRentalCars")
    assert flight and flight.contested and flight.evidence == Evidence(supporting=4, competing=2)
    assert car and car.contested and car.reasoning_type == "recall"
    assert of(made, "GetHotels") is None  # seen, with the other side's value only


def test_no_recall_where_both_sides_recur() -> None:
    made = facts(*dear(4), *cheap(6))
    assert of(made, "GetRentalCars") is None and of(made, "GetHotels") is None
    sight = of(made, "GetTravel")
    assert sight and sight.reasoning_type == "recall"


def test_the_gold_is_the_users_own_celebrity() -> None:
    made = facts(*[ToolCall.of("GetMovies", starring="Star Two")] * 2)
    music = of(made, "GetMusic")
    assert music and music.reasoning_type == "transfer" and music.gold == (ToolCall.of("GetMusic", artist="Star Two"),)


def test_what_is_never_established_is_left_out() -> None:
    calls = [ToolCall.of("GetMovies", starring="Star Two")] * 2
    asked: list[Instance] = []
    for seed in range(40):
        generator = rng()
        generator.seed(seed)
        asked += [i for i in build_instances(Facts(history(*calls), MAPPING), generator) if not i.evidence]
    assert asked
    for instance in asked:
        assert instance.preference == "other" and instance.query_type == "cg" and instance.reasoning_type == "transfer"
        assert instance.gold[0].name not in ("GetMovies", "GetMusic")
    functions = {instance.gold[0].name for instance in asked}
    assert "GetHomes" not in functions and len(functions) > 3  # no preference is tied to GetHomes


def test_unseen_functions() -> None:
    found = [i for i in build_instances(facts(*cheap(2)), rng()) if i.schema_name == "extended"]
    assert {i.reasoning_type for i in found} == {"transfer"}
    assert {i.gold[0].name for i in found} == {
        *("GetCampground", "GetCookingClass", "GetFitnessClass", "GetSkiPass", "GetParkingSpot", "GetThemePark")
    }
    assert len(found) == 12 and {i.query_type for i in found} == {"cg", "cf"}


@pytest.mark.parametrize("function", ["GetCampground", "GetParkingSpot"])
def test_unseen_functions_with_two_open_answers_are_not_asked(function: str) -> None:
    single = [ToolCall.of("GetBuses", group_size="1"), ToolCall.of("GetEvents", number_of_tickets="1")]
    found = {i.gold[0].name for i in build_instances(facts(*cheap(2), *single), rng())}
    assert (function in found) == (function == "GetParkingSpot")
    assert "GetCityTour" in found


def test_ids_are_unique_and_name_the_history() -> None:
    ids = [i.id for i in build_instances(facts(*cheap(3)), rng())]
    assert len(set(ids)) == len(ids) and all(name.startswith("h-") for name in ids)
