"""Which entity a record is about."""

from __future__ import annotations

import pytest

from prefine_dspy.situation.identity import EntityKey, id_stem, listed_keys, record_key


@pytest.mark.parametrize(
    ("key", "stem"),
    [
        ("id", ""),
        ("order_id", "order"),
        ("flight_number", "flight"),
        ("userId", "user"),
        ("user id", "user"),
        ("用户id", "用户"),
        ("paid", None),
        ("valid", None),
        ("numbers", None),
    ],
)
def test_id_like_keys(key: str, stem: str | None) -> None:
    assert id_stem(key) == stem


def test_the_records_own_id_beats_an_id_that_was_an_argument() -> None:
    booked = {"reservation_id": "R42", "user_id": "u17"}
    assert record_key("book_reservation", {"user_id": "u17"}, booked) == EntityKey("reservation", "R42")


def test_a_record_without_an_id_is_about_the_id_that_was_asked_for() -> None:
    assert record_key("get_user_details", {"user_id": "u17"}, {"email": "a@b.c"}) == EntityKey("user", "u17")


def test_a_record_that_nothing_identifies_belongs_to_its_call() -> None:
    assert record_key("list_airports", {}, {"AAA": "Atown"}) == EntityKey("list_airports", "")


def test_an_element_of_a_list_is_valid_for_the_arguments_of_its_search() -> None:
    flight = {"flight_number": "XY7", "origin": "AAA"}
    keys = [
        listed_keys("search", {"origin": "AAA", "date": date}, [flight])[0] for date in ("2030-01-01", "2030-01-02")
    ]
    assert keys[0] != keys[1]
    assert keys[0] == EntityKey("flight", "XY7", (("origin", "AAA"), ("date", "2030-01-01")))


def test_a_legs_own_origin_counts_and_not_the_trips() -> None:
    leg = {"flight_number": "XY7", "origin": "BBB", "date": "2030-01-02"}
    trip = listed_keys("search_onestop", {"origin": "AAA", "date": "2030-01-01"}, [leg])
    direct = listed_keys("search_direct", {"origin": "BBB", "date": "2030-01-02"}, [{"flight_number": "XY7"}])
    assert trip == direct


def test_an_element_that_was_asked_for_by_its_id_needs_no_scope() -> None:
    assert listed_keys("get_order", {"order_id": "O1"}, [{"order_id": "O1"}]) == [EntityKey("order", "O1")]


def test_the_id_that_tells_the_elements_apart_is_theirs() -> None:
    lines = [{"order_id": "O1", "item_id": "I1"}, {"order_id": "O1", "item_id": "I2"}]
    assert [(key.type, key.id) for key in listed_keys("get", {}, lines) if key] == [("item", "I1"), ("item", "I2")]


def test_a_typed_record_is_identified_by_the_id_of_its_type() -> None:
    record = {"store_id": "S1", "product_id": "P1"}
    assert listed_keys("search", {}, [record], ["StoreProduct"]) == [EntityKey("StoreProduct", "P1")]


def test_two_records_that_contradict_each_other_are_never_one_entity() -> None:
    first, second, third = listed_keys("search", {}, [{"id": "A", "x": 1}, {"id": "A", "x": 2}, {"id": "A", "x": 1}])
    assert first == third != second


def test_a_plain_id_takes_its_type_from_the_tool() -> None:
    assert record_key("get_train_details", {}, {"id": "T1"}) == EntityKey("train", "T1")
    assert listed_keys("search_trains", {}, [{"id": "T1"}]) == [EntityKey("train", "T1")]
