import pytest

from prefine_dspy.interop.transience import is_moment, is_transient


@pytest.mark.parametrize(
    "name",
    "date check_in_date departureTime start-time reservation_id order_ids destination origin from_city "
    "pickup_location deadline".split(),
)
def test_what_is_done_this_once(name):
    assert is_transient(name, {"type": "string"})


@pytest.mark.parametrize(
    "name",
    "flight_class city cuisine time_zone preferred_time date_format date_of_birth update latest genre sender candidate "
    "valid".split(),
)
def test_what_may_last(name):
    assert not is_transient(name, {"type": "string"})


def test_types_and_formats():
    assert is_transient("begin", {"type": "string", "format": "date-time"})
    assert not is_transient("birthday", {"type": "string", "format": "date"})
    assert not is_transient("time", {"type": "integer"})
    assert not is_transient("same_day", {"type": "boolean"})
    assert not is_transient("day", {"type": "string", "enum": ["weekday", "weekend"]})


def test_moments_by_their_looks():
    assert all(map(is_moment, ["2026-03-09", "2026-03-09T10:00:00Z", "10:30", "9:30 pm"]))
    assert not any(map(is_moment, ["March", "2", "", None, 5, "10:30 jazz"]))
