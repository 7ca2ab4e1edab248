"""The strict reader of released call strings, and its inverse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.data.call_text import parse_call
from prefine_dspy.errors import InputError
from prefine_dspy.types import ToolCall

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(st.characters(exclude_characters='"'), max_size=20)
CALLS = st.builds(
    ToolCall,
    name=NAMES,
    arguments=st.dictionaries(NAMES, VALUES | st.lists(VALUES, min_size=2, max_size=3), max_size=4),
)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('GetBuses(group_size="1", origin="San Jose")', {"group_size": "1", "origin": "San Jose"}),
        ("GetMovies()", {}),
        ('GetFood(food_name="Roast Duck ")', {"food_name": "Roast Duck "}),
        (
            'GetHotels(hotel_name="The Inn, Old Town (East), Anna\'s")',
            {"hotel_name": "The Inn, Old Town (East), Anna's"},
        ),
        ('GetMusic(song_name="a=b, c", artist="")', {"song_name": "a=b, c", "artist": ""}),
        (
            'GetTravel(attraction_name="The "Blue" Gate", location="Oslo")',
            {"attraction_name": 'The "Blue" Gate', "location": "Oslo"},
        ),
    ],
)
def test_reads_what_released_files_hold(text: str, arguments: dict[str, str]) -> None:
    call = parse_call(text)
    assert call.arguments == arguments
    assert list(call.arguments) == list(arguments)
    assert str(call) == text


def test_a_name_given_twice_keeps_both_values() -> None:
    text = 'GetBanks(recipient_account_type="savings", recipient_account_type="checking")'
    call = parse_call(text)
    assert call.arguments == {"recipient_account_type": ["savings", "checking"]}
    assert str(call) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GetBuses",
        'GetBuses(group_size="1"',
        "GetBuses(group_size=1)",
        "GetBuses(group_size='1')",
        'GetBuses( group_size="1")',
        'GetBuses(group_size="1" origin="San Jose")',
        'GetBuses(group_size="1",origin="San Jose")',
        'GetBuses(group_size="1", )',
        'GetBuses(group_size="1") ',
        'Call: GetBuses(group_size="1")',
        'GetBuses("1")',
        None,
        {"name": "GetBuses"},
    ],
)
def test_anything_else_is_an_error_that_shows_the_text(text: object) -> None:
    with pytest.raises(InputError) as caught:
        parse_call(text)  # type: ignore[arg-type]
    assert repr(text) in str(caught.value)


@given(CALLS)
def test_reading_is_the_inverse_of_writing(call: ToolCall) -> None:
    assert parse_call(str(call)) == call


@given(st.text())
def test_never_fails_otherwise_than_with_an_input_error(text: str) -> None:
    try:
        parse_call(text)
    except InputError:
        pass
