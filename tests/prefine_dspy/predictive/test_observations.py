import pytest
from predictive_world import CHEAP_SESSIONS, TOOLS

from prefine_dspy.predictive.observations import observations, session_weights, sessions_to_change


def test_the_lasting_choices_of_sessions():
    found = observations(CHEAP_SESSIONS, TOOLS)
    assert [str(one) for one in found] == [
        "flight_class=Economy (GetFlights)",
        "average_star=1 (GetHotels)",
        "price_range=cheap (GetRestaurants)",
    ]
    assert [one.session for one in found] == ["s1", "s2", "s3"]


def test_weights_halve_with_age():
    assert session_weights(["a", "b", "c"], None) == {"a": 1, "b": 1, "c": 1}
    assert session_weights(["a", "b", "c"], 1) == {"a": 0.25, "b": 0.5, "c": 1}


@pytest.mark.parametrize("half_life", [1, 2, 3.5, 5])
@pytest.mark.parametrize("before", [1, 3, 10, 50])
def test_a_half_life_bounds_how_long_a_change_takes(half_life, before):
    assert sessions_to_change(half_life, before) <= min(before, int(half_life)) + 1


def test_without_one_it_takes_longer_than_the_old_choice_lasted():
    assert sessions_to_change(None, 7) == 8
