import json

import pytest

from eval.metrics import locations
from eval.metrics.locations import find_aliases, own_table, read_place, same_place
from prefine_dspy.errors import InputError


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("SF", "San Francisco, CA"),
        ("nyc", "New York, NY"),
        ("LA", "Los Angeles, California"),
        ("Portland", "Portland, OR"),
        ("London, UK", "London, England"),
        ("London, England", "London, United Kingdom"),
        ("Washington, D.C.", "DC"),
        ("Napa, CA", "Napa"),
        ("Sydney, NSW", "Sydney, Australia"),
        ("Nowhere Town, CA", "nowhere  town"),
    ],
)
def test_one_place_under_two_names(a, b):
    assert same_place(a, b)
    assert same_place(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("San Jose", "San Francisco"),
        ("San Jose", "?"),
        ("Portland, OR", "Portland, GA"),
        ("Bellanico Restaurant, Wine & Bar", "Bellanico Restaurant"),
        ("SFO", "SFO airport"),
        ("", "Napa"),
    ],
)
def test_different_places(a, b):
    assert not same_place(a, b)


def test_a_chain_of_commas_ends():
    assert read_place("Napa, CA, USA") == ("napa", "california")
    read_place("," * 10_000 + " CA")


def test_a_table_can_be_named(tmp_path):
    path = tmp_path / "places.json"
    path.write_text(json.dumps({"x": "y"}), encoding="utf-8")
    found = find_aliases(path)
    assert found.table == {"x": "y"}
    assert "1 entries" in found.source
    path.write_text(json.dumps({"x": "z"}), encoding="utf-8")
    assert len(found.identity) == 64 and find_aliases(path).identity != found.identity


@pytest.mark.parametrize(("content", "message"), [("[1]", "no alias table"), ('{"a": 1}', "no alias"), ("{", "JSON")])
def test_a_bad_table_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "places.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        find_aliases(path)
    assert "\n" not in str(caught.value)


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="--locations"):
        find_aliases(tmp_path / "none.json")


def test_without_the_published_table_our_names_are_used_and_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(locations, "PUBLISHED_TABLE", tmp_path / "none.json")
    locations._default_aliases.cache_clear()
    try:
        found = find_aliases()
    finally:
        locations._default_aliases.cache_clear()
    assert "--locations" in found.source and found.identity == "none"
    assert found.table == own_table()
    assert found.table["sf"] == found.table["san francisco, ca"]
    assert found.table["san jose"] == ""
