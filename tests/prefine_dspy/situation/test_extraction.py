"""What an observation does to the facts: containers, listings, errors, credibility."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.situation.extraction import ERROR, RESULT, extract
from prefine_dspy.situation.facts import FactStore, Source
from prefine_dspy.situation.identity import EntityKey
from prefine_dspy.situation.paths import MISSING, leaves, path_text, read_path, value_at

USER = EntityKey("user", "u17")


def observe(facts: FactStore, step: int, tool: str, arguments: dict[str, Any], result: Any, **more: Any) -> Any:
    return extract(facts, step, tool, arguments, result if isinstance(result, str) else json.dumps(result), **more)


def test_a_container_that_comes_again_leaves_nothing_of_the_old_one() -> None:
    facts = FactStore()
    observe(facts, 1, "get_user", {"user_id": "u17"}, {"cards": {"c1": {"left": 5}, "c2": {"left": 0}}, "name": "Ann"})
    observe(facts, 2, "get_user", {"user_id": "u17"}, {"cards": {"c1": {"left": 5}}})
    assert facts.value(USER, ("cards",)) == {"c1": {"left": 5}}
    assert facts.value(USER, ("name",)) == "Ann", "what a return does not mention stays"
    assert facts.entity(USER)["cards"].replaced[0][0] == {"c1": {"left": 5}, "c2": {"left": 0}}


def test_an_item_as_order_line_and_as_product_variant_are_two_facts() -> None:
    facts = FactStore()
    observe(facts, 1, "get_order", {"order_id": "O1"}, {"order_id": "O1", "items": [{"item_id": "I1", "price": 10}]})
    observe(facts, 2, "get_product", {"product_id": "P1"}, {"product_id": "P1", "variants": {"I1": {"price": 12}}})
    assert facts.value(EntityKey("order", "O1"), read_path("items[0].price")) == 10
    assert facts.value(EntityKey("product", "P1"), read_path("variants.I1.price")) == 12


def test_an_empty_list_is_a_fact() -> None:
    facts = FactStore()
    seen = observe(facts, 1, "search", {"date": "2030-01-01"}, [])
    assert facts.value(seen.entities[0], (RESULT,)) == []


def test_a_search_that_no_longer_finds_an_entity_drops_it_unless_another_call_saw_it() -> None:
    facts = FactStore()
    observe(facts, 1, "search", {"q": "a"}, [{"id": "A"}, {"id": "B"}])
    observe(facts, 2, "get", {"id": "B"}, [{"id": "B", "x": 1}])
    observe(facts, 3, "search", {"q": "a"}, [])
    assert {(key.type, key.id) for key in facts} == {("search", "q=a"), ("get", "id=B"), ("get", "B")}


def test_the_pairs_of_nested_lists_are_kept_as_references() -> None:
    facts = FactStore()
    seen = observe(facts, 1, "search", {"q": "x"}, [[{"id": "A"}, {"id": "B"}], [{"id": "C"}, {"id": "B"}]])
    listing = facts.value(seen.entities[0], (RESULT,))
    assert [[key.id for key in pair] for pair in listing] == [["A", "B"], ["C", "B"]]


def test_errors_change_no_fact_and_stay_verbatim() -> None:
    facts = FactStore()
    observe(facts, 1, "change", {"user_id": "u17"}, {"name": "Ann"})
    for step, text in enumerate(
        ["Error: no such user", "Unknown action change", json.dumps({"error": "late"})], start=2
    ):
        seen = observe(facts, step, "change", {"user_id": "u17"}, text)
        assert seen.error and seen.reference == text
        assert facts.value(seen.entities[0], (ERROR,)) == text
    assert dict(facts.entity(USER)).keys() == {"name"}
    assert observe(facts, 9, "pay", {"order_id": "O1"}, {"order_id": "O1", "status": "failed"}).error is False
    assert observe(facts, 10, "pay", {}, "the backend is busy", error=True).error


def test_a_success_replaces_the_error_of_the_same_call() -> None:
    facts = FactStore()
    seen = observe(facts, 1, "pay", {"sum": 3}, "Error: try again")
    observe(facts, 2, "pay", {"sum": 3}, "paid")
    assert dict(facts.entity(seen.entities[0])).keys() == {RESULT}


def test_a_long_return_is_replaced_by_a_short_reference_and_a_short_one_stays() -> None:
    facts = FactStore()
    record = {"reservation_id": "R42", "cabin": "economy", "flights": [{"flight_number": "XY7"}] * 5}
    assert observe(facts, 1, "get", {"reservation_id": "R42"}, record).reference == "-> reservation R42"
    assert (
        observe(facts, 2, "find", {"q": 1}, [{"id": f"A{at}", "more": "x" * 20} for at in range(3)]).reference
        == "-> 3 find"
    )
    assert observe(facts, 3, "who", {}, "user_17").reference == "user_17"


def test_an_observation_beats_an_inference_and_the_newer_one_of_a_kind_wins() -> None:
    facts = FactStore()
    facts.write(USER, "name", "Anne?", Source("inferred", 5))
    assert facts.write(USER, "name", "Ann", Source("observed", 1, "get"))
    assert not facts.write(USER, "name", "Hannah", Source("inferred", 9, evidence="a guess"))
    assert facts.value(USER, ("name",)) == "Ann"
    assert [one.value for one in facts.rejected] == ["Hannah"]


WRITES = st.lists(
    st.tuples(st.sampled_from(["observed", "inferred"]), st.integers(0, 9), st.integers(1, 6)), min_size=1
)


@settings(max_examples=150, deadline=None)
@given(WRITES)
def test_the_fact_is_the_newest_of_the_most_credible_kind(writes: list[tuple[Any, int, int]]) -> None:
    facts = FactStore()
    best: tuple[tuple[bool, int], int] | None = None
    for kind, value, step in writes:
        before = facts.find(USER, ("a",))
        facts.write(USER, "a", value, Source(kind, step))
        rank = (kind == "observed", step)
        best = (rank, value) if best is None or rank >= best[0] else best
        after = facts.find(USER, ("a",))
        assert after is not None
        if before is not None:  # credibility only grows
            assert (after.source.kind == "observed") >= (before.source.kind == "observed")
    assert best is not None and facts.value(USER, ("a",)) == best[1]


RECORDS = st.dictionaries(
    st.sampled_from("abcd"), st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2), max_size=4
)


@settings(max_examples=100, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=5))
def test_observing_twice_is_observing_once(records: list[dict[str, Any]]) -> None:
    once, twice = FactStore(), FactStore()
    for step, record in enumerate(records, start=1):
        observe(once, step, "get", {"user_id": "u17"}, record)
        for _ in range(2):
            observe(twice, step, "get", {"user_id": "u17"}, record)
    assert {key: dict(once.entity(key)) for key in once} == {key: dict(twice.entity(key)) for key in twice}


def test_paths_read_back() -> None:
    value = {"items": [{"options": {"color": "red"}}], "a b": {"0": 1}}
    for path, leaf in leaves(value):
        assert value_at(value, read_path(path_text(path))) == leaf
    assert value_at(value, ("items", 3)) is MISSING and value_at(value, ("items", "color")) is MISSING
