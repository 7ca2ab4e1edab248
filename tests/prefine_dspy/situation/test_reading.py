"""Every notation that tools use is read, and what is none stays the text that it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.situation.reading import read_return
from prefine_dspy.situation.records import typed_records

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def test_json_is_read_as_json() -> None:
    assert read_return('{"id": "0012", "price": 3.5}').value == {"id": "0012", "price": 3.5}
    assert read_return("[]").value == []


@pytest.mark.parametrize("text", ["327.0", "0012", "true", "null", '"word"', "user_17", "Transfer done", ""])
def test_a_bare_scalar_stays_the_text_that_it_is(text: str) -> None:
    reading = read_return(text)
    assert (reading.form, reading.value) == ("text", text)


def test_json_lines_are_found_inside_prose() -> None:
    text = 'Two options fit:\nOption one: {"id": "F8", "cost": 350}\n{"id": "F16", "cost": 400},\nSay which you want.'
    reading = read_return(text)
    assert reading.form == "json_lines"
    assert reading.value == [{"id": "F8", "cost": 350}, {"id": "F16", "cost": 400}]
    assert reading.prose == "Two options fit:\nOption one:\nSay which you want."


def test_python_literals_with_apostrophes_tuples_and_escapes_are_read() -> None:
    plain = "{'name': \"Joe's\", 'open': True, 'tip': None}"
    assert read_return(plain).value == {
        "name": "Joe's",
        "open": True,
        "tip": None,
    }
    odd = "{'pair': (1, 'a'), 'line': 'a\\nb', 3: {'x'}}"
    assert read_return(odd).value == {"pair": [1, "a"], "line": "a\nb", "3": ["x"]}


def test_typed_records_keep_commas_brackets_and_trailing_blanks_of_their_text() -> None:
    text = (
        "Store(name=Rice, Noodles & More (Old Town) , store_id=S1, score=4.50, stars=4.5, place=1 North St "
        "longitude:1.5,latitude:-2.25, tags=['a, b=c', 'd'], open=True)\n"
        "Store(name=O'Neil [bar], store_id=007, tags=[])"
    )
    reading = read_return(text)
    assert reading.form == "records" and reading.types == ("Store", "Store")
    first, second = reading.value
    assert first["name"] == "Rice, Noodles & More (Old Town) "
    assert (first["score"], first["stars"]) == ("4.50", 4.5), "text that would read back differently stays text"
    assert (first["place"], first["longitude"], first["latitude"]) == ("1 North St", 1.5, -2.25)
    assert first["tags"] == ["a, b=c", "d"] and first["open"] is True
    assert second == {"name": "O'Neil [bar]", "store_id": "007", "tags": []}


def test_records_with_colons_and_an_unclosed_list_are_read() -> None:
    text = "Order(order_id:O1, time:2024-08-19 17:30:00, note:, products:[{'product_id': 'P1', 'price': 3.9}"
    (order,) = read_return(text).value
    assert order == {
        "order_id": "O1",
        "time": "2024-08-19 17:30:00",
        "note": "",
        "products": [{"product_id": "P1", "price": 3.9}],
    }


def test_key_value_lines_are_records_and_a_sentence_with_a_colon_is_not() -> None:
    assert read_return("city: Bonn, weather: sunny, at: 08:00").value == {
        "city": "Bonn",
        "weather": "sunny",
        "at": "08:00",
    }
    assert read_return("status: open\nowner: Ann").value == {"status": "open", "owner": "Ann"}
    two = read_return("city: Bonn, rain: no\ncity: Ulm, rain: yes").value
    assert two == [{"city": "Bonn", "rain": "no"}, {"city": "Ulm", "rain": "yes"}]
    assert read_return("Please note: we close early").form == "text"


def test_what_is_nested_too_deeply_stays_text() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    assert read_return(deep).form == "text"
    assert read_return("{'a': " * 100 + "1" + "}" * 100).form == "text"


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_any_json_object_or_list_reads_back_and_decoded_values_read_alike(value: object) -> None:
    if isinstance(value, dict | list):
        assert read_return(json.dumps(value)).value == value
        assert read_return(value).value == value


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    read_return(text)
    read_return(f"Store(a={text}, b={text})")
    read_return(f"{{'a': {text}}}")


VALUES = st.text(alphabet="ab =,[]{}':1", max_size=14)
LINES = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=2, max_size=4)


@given(LINES)
@settings(max_examples=200, deadline=None)
def test_a_record_is_read_alike_alone_and_after_another(rows: list[tuple[str, str, str]]) -> None:
    lines = [f"Shop(name={one}, place={two}, tags={three})" for one, two, three in rows]
    alone = [typed_records(line) for line in lines]
    together = typed_records("\n".join(lines))
    assert together == (None if None in alone else [record for found in alone for record in found or ()])
