"""Tables 2 and 19, labels, and which stances exclude each other."""

import pytest

from eval.data.preferences import CELEBRITIES, PREFERENCES, Mapping, Stance
from prefine_dspy.types import ToolCall

LOW, HIGH, SOLO = Stance("low_cost"), Stance("high_cost"), Stance("solo_usage")


def test_table_2_has_18_realisations_over_16_arguments_in_13_functions() -> None:
    mapping = Mapping(["someone"])
    all_of_them = [r for stance in mapping.stances() for r in mapping.realisations(stance)]
    released_extra = 1  # price_range = pricey
    assert len(all_of_them) == 18 + released_extra
    assert len({(r.function, r.argument) for r in all_of_them}) == 16
    assert len({r.function for r in all_of_them}) == 13


def test_table_19_has_six_of_each() -> None:
    mapping = Mapping()
    assert [len(mapping.unseen_realisations(stance)) for stance in (LOW, HIGH, SOLO)] == [6, 6, 6]
    assert mapping.unseen_realisations(Stance("eco")) == ()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (ToolCall.of("GetHotels", average_star="4"), [HIGH]),
        (ToolCall.of("GetHotels", average_star="3"), []),
        (ToolCall.of("GetHotels", average_star=2), [LOW]),
        (ToolCall.of("GetTravel", free_entry=True), [LOW]),
        (ToolCall.of("GetFlights", flight_class="Economy", passengers="1"), [LOW, SOLO]),
        (ToolCall.of("GetMusic", artist="Jay Chou"), [Stance("prefers_star", "Jay Chou")]),
        (ToolCall.of("GetMusic", artist="Ed Sheeran"), []),
        (ToolCall.of("GetMusic", song_name="Jay Chou"), []),
    ],
)
def test_labels(call: ToolCall, expected: list[Stance]) -> None:
    assert Mapping().labels(call) == expected


def test_opposing_sides() -> None:
    assert LOW.opposes(HIGH) and HIGH.opposes(LOW) and not LOW.opposes(LOW) and not LOW.opposes(SOLO)
    assert Stance("prefers_star", "A").opposes(Stance("prefers_star", "B"))
    assert not Stance("eco").opposes(Stance("solo_usage"))


def test_both_costs_share_their_tied_arguments() -> None:
    assert Mapping().arguments(LOW) == Mapping().arguments(HIGH)
    assert ("GetFlights", "flight_class") in Mapping().arguments(HIGH)


def test_names() -> None:
    assert len(set(CELEBRITIES)) == 20 and len(PREFERENCES) == 5
    assert str(Stance("prefers_star", "A")) == "A" and str(LOW) == "low_cost"
