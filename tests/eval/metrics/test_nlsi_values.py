import pytest

from eval.metrics.nlsi_values import is_place, same
from prefine_dspy.tools import Parameter


@pytest.mark.parametrize(
    ("argument", "gold", "predicted"),
    [
        ("cuisine", "Thai", " thai "),
        ("city", "SF", "San Francisco, CA"),
        ("date", "March 9th", "9th of March"),
        ("date", "March 9th", "on March the 9th"),
        ("departure_date", "the 9th", "9th of this month"),
        ("show_time", "evening 6:30", "6:30 pm"),
        ("show_time", "half past 6 in the evening", "18:30"),
        ("time", "quarter to 1 in the afternoon", "12:45 pm"),
        ("time", "noon", "12 pm"),
        ("time", "seven o'clock in the evening", "7 pm"),
        ("time", "12 at night", "midnight"),
        ("amount", "$1,200", "1200"),
        ("number_of_beds", "two", "2"),
        ("event_name", "Bears vs Bulls", "Bears versus Bulls"),
        ("movie_name", "Ocean's 8", "Ocean’s 8"),
        ("genre", "any", "Any"),
        ("is_unisex", "True", "yes"),
    ],
)
def test_said_differently(argument, gold, predicted):
    assert same(argument, gold, predicted)
    if gold != "True":
        assert same(argument, predicted, gold)


@pytest.mark.parametrize(
    ("argument", "gold", "predicted"),
    [
        ("date", "March 3rd", "March 4th"),
        ("date", "March 9th", "the 9th"),
        ("date", "tomorrow", "the day after"),
        ("time", "6:30 pm", "7:45 pm"),
        ("time", "6:30", "6:30 pm"),
        ("time", "6:30 pm", "6:30 in the morning"),
        ("event_name", "LA", "Los Angeles"),
        ("city", "San Jose", "?"),
        ("hotel_name", "A.B", "AB"),
        ("price_range", "moderate", "any"),
    ],
)
def test_another_value(argument, gold, predicted):
    assert not same(argument, gold, predicted)


def test_the_schema_decides_what_is_a_boolean():
    assert same("x", "True", "yes", Parameter(name="x", type="boolean"))
    assert not same("x", "yes", "True")


@pytest.mark.parametrize("argument", ["city", "where_to", "pickup_location", "area", "origin", "pickup_city"])
def test_arguments_that_hold_places(argument):
    assert is_place(argument)


@pytest.mark.parametrize("argument", ["event_name", "capacity", "category", "street_address"])
def test_arguments_that_do_not(argument):
    assert not is_place(argument)
