"""Counts, R/C/U and what establishes a preference."""

from eval.data.observations import established, evidence, recurring, stance_counts, value_counts, value_evidence
from eval.data.preferences import Stance
from eval.instance import Evidence
from prefine_dspy.types import ToolCall
from tests.eval.data.made import MAPPING, cheap, dear, plain

LOW, HIGH, STAR = Stance("low_cost"), Stance("high_cost"), Stance("prefers_star", "Star One")


def test_one_call_is_one_observation() -> None:
    neutral = ToolCall.of("GetRentalCars", car_type="Standard")
    calls = [*cheap(3), *dear(1), neutral, *plain(4)]
    assert evidence(calls, LOW, MAPPING) == Evidence(supporting=3, competing=2, unrelated=4)
    assert evidence(calls, HIGH, MAPPING) == Evidence(supporting=1, competing=4, unrelated=4)


def test_another_celebrity_competes() -> None:
    calls = [ToolCall.of("GetMovies", starring="Star One"), ToolCall.of("GetMusic", artist="Nobody")]
    assert evidence(calls, STAR, MAPPING) == Evidence(supporting=1, competing=1)


def test_an_idiosyncratic_value_competes_with_others_of_its_argument() -> None:
    calls = [ToolCall.of("GetLight", brightness=b) for b in ("30", "30", "80")] + plain(1)
    assert value_evidence(calls, ("GetLight", "brightness", "30")) == Evidence(supporting=2, competing=1, unrelated=1)


def test_recurring_needs_one_value_only() -> None:
    calls = [ToolCall.of("GetLight", brightness=b) for b in ("30", "30", "80", "80")]
    assert recurring(value_counts(calls)) == {}
    assert recurring(value_counts(calls[:3])) == {("GetLight", "brightness"): "30"}


def test_repeated_names_in_a_call_count_each() -> None:
    call = ToolCall.of("GetBanks", recipient_account_type=["savings", "checking"])
    assert value_counts([call, call])["GetBanks", "recipient_account_type"] == {"savings": 2, "checking": 2}


def test_established_needs_two_functions_and_more_than_what_competes() -> None:
    assert set(established(cheap(2), MAPPING)) == {LOW}
    assert established([cheap(1)[0]] * 3, MAPPING) == {}
    assert established([*cheap(2), *dear(2)], MAPPING) == {}
    assert set(established([*cheap(3), *dear(2)], MAPPING)) == {LOW}
    neutral = ToolCall.of("GetHotels", average_star="3")
    assert established([*cheap(2), neutral, neutral], MAPPING) == {}


def test_one_function_is_enough_for_a_star() -> None:
    calls = [ToolCall.of("GetMovies", starring="Star One")] * 2
    assert set(established(calls, MAPPING)) == {STAR}
    assert stance_counts(calls, MAPPING) == {STAR: 2}
