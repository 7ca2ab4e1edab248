"""Facts to constraints to intents: the golden scenario, and the laws of the engine."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.situation import Constraint, Intent, SituationState, StateLayer, Variable, read_condition
from prefine_dspy.situation.facts import FactStore, Source
from prefine_dspy.situation.grounding import evaluate
from prefine_dspy.situation.identity import EntityKey
from prefine_dspy.situation.propagation import propagate

RESERVATION = EntityKey("reservation", "R42")
RULE = "reservation R42.cabin != basic_economy"


def see_cabin(situation: SituationState, cabin: str) -> Any:
    record = json.dumps({"reservation_id": "R42", "cabin": cabin})
    return situation.observe("get_reservation", {"reservation_id": "R42"}, record)


def rebooking() -> SituationState:
    """A change of flights with a fallback and bags that wait for it."""
    situation = SituationState()
    situation.propose(
        StateLayer(
            intents=(
                Intent(name="modify", status="active"),
                Intent(name="rebook", depends_on=("modify.blocked",)),
                Intent(name="add_bags", depends_on=("rebook.completed",)),
            ),
            constraints=(
                Constraint(name="no basic economy", guards=("modify",), grounding=read_condition(RULE)),
                Constraint(name="bags allowed", guards=("add_bags",)),
            ),
        )
    )
    return situation


def test_the_golden_scenario() -> None:
    situation = rebooking()
    assert [one.status for one in situation.state.intents] == ["active", "pending", "pending"]
    assert situation.check().violated == () and situation.state.constraints[0].status == "unsatisfied"

    see_cabin(situation, "basic_economy")
    check = situation.check()
    assert [one.status for one in check.layer.intents] == ["blocked", "active", "pending"]
    (block,) = check.blocked("modify")
    assert str(block) == "reservation R42.cabin = basic_economy (step 1) violates no basic economy"
    assert block.verdict is not None and block.verdict.facts[0].source.tool == "get_reservation"
    assert check.waiting == (("add_bags", ("rebook.completed",)),)
    assert check.executable == ("rebook",)
    assert not check.complete

    situation.propose({"intents": {"rebook": "completed"}})
    assert situation.check().status("add_bags") == "active"
    situation.propose({"intents": {"add_bags": "completed"}})
    assert situation.check().complete


def test_a_block_is_lifted_to_pending_and_what_it_released_is_held_again() -> None:
    situation = rebooking()
    see_cabin(situation, "basic_economy")
    see_cabin(situation, "economy")
    assert [one.status for one in situation.state.intents] == ["pending", "pending", "pending"]
    assert situation.state.constraints[0].status == "satisfied"
    see_cabin(situation, "basic_economy")
    assert [one.status for one in situation.state.intents] == ["blocked", "active", "pending"]
    assert [(one.step, one.kind, one.intent) for one in situation.changes] == [
        *((1, "blocked", "modify"), (1, "released", "rebook")),
        *((2, "lifted", "modify"), (2, "held", "rebook")),
        *((3, "blocked", "modify"), (3, "released", "rebook")),
    ]


def test_a_repeated_block_does_not_become_the_agents_own_word() -> None:
    situation = rebooking()
    see_cabin(situation, "basic_economy")
    situation.propose(f"<state>{situation.render_state()}</state>")
    see_cabin(situation, "economy")
    assert situation.check().status("modify") == "pending"


def test_changes_are_told() -> None:
    situation = rebooking()
    situation.facts.write(RESERVATION, "cabin", "basic_economy", Source("observed", 1, "get"))
    proposal = situation.propose(situation.said)
    assert [(one.kind, one.intent) for one in proposal.changes] == [("blocked", "modify"), ("released", "rebook")]


def test_a_completed_intent_is_not_blocked_any_more() -> None:
    situation = rebooking()
    situation.propose({"intents": {"modify": "completed"}})
    see_cabin(situation, "basic_economy")
    assert situation.check().status("modify") == "completed"
    assert situation.check().violated == ("no basic economy",) and situation.check().blocks == ()


def test_only_linked_intents_are_blocked() -> None:
    situation = SituationState()
    situation.require("rule", RULE)
    situation.propose({"intents": {"modify": "active"}})
    see_cabin(situation, "basic_economy")
    assert situation.check().violated == ("rule",) and situation.check().status("modify") == "active"


def test_the_agents_word_counts_for_what_code_cannot_check() -> None:
    situation = SituationState()
    situation.propose(
        {
            "intents": ["pay"],
            "constraints": [{"name": "limit", "status": "VIOLATED", "guards": ["pay"], "evidence": "over the limit"}],
        }
    )
    assert situation.check().status("pay") == "blocked"
    assert situation.state.intents[0].reason == "over the limit violates limit"


def test_codes_verdict_beats_the_agents_for_what_code_can_check() -> None:
    situation = rebooking()
    see_cabin(situation, "basic_economy")
    found = situation.propose({"constraints": [{"name": "no basic economy", "status": "satisfied"}]})
    assert situation.state.constraints[0].status == "violated"
    assert "overruled" in [one.kind for one in found.problems]


@pytest.mark.parametrize(
    ("available", "expected"), [([True, False], "satisfied"), ([False, False], "violated"), ([], "unsatisfied")]
)
def test_any_over_the_elements_of_a_container(available: list[bool], expected: str) -> None:
    situation = SituationState()
    situation.require("one left", "any product P7.variants: options.switch == clicky and available == true")
    variants = {f"I{at}": {"options": {"switch": "clicky"}, "available": one} for at, one in enumerate(available)}
    situation.observe("get_product", {"product_id": "P7"}, {"product_id": "P7", "variants": variants})
    assert situation.state.constraints[0].status == expected


def test_all_over_a_type_tells_which_one_fails() -> None:
    situation = SituationState()
    situation.require("rated", "all restaurant: rating >= 3")
    listed = [{"restaurant_id": "A", "rating": 4}, {"restaurant_id": "B", "rating": 2}]
    situation.observe("search", {"town": "Ulm"}, listed)
    assert situation.state.constraints[0].status == "violated"
    assert situation.state.constraints[0].evidence == "restaurant B (town=Ulm).rating = 2 (step 1) (2 seen)"


def test_unknown_variables_hold_an_intent_back_and_say_how_to_get_them() -> None:
    layer = StateLayer(
        intents=(Intent(name="search", status="completed"), Intent(name="book", depends_on=("search.completed",))),
        variables=(
            Variable(name="date", source="askable", needed_by=("book",)),
            Variable(name="price", source="retrievable", needed_by=("book",)),
            Variable(name="total", source="derivable"),
            Variable(name="query", source="askable", needed_by=("search",)),
        ),
    )
    check = propagate(layer, FactStore())
    assert check.status("book") == "pending" and check.executable == ()
    assert [[one.name for one in some] for some in (check.ask, check.retrieve, check.derive)] == [
        ["date"],
        ["price"],
        ["total"],
    ]
    known = layer.model_copy(
        update={"variables": tuple(one.model_copy(update={"known": True}) for one in layer.variables)}
    )
    assert propagate(known, FactStore()).status("book") == "active"


def test_cycles_and_hopeless_dependencies_are_told_and_end() -> None:
    layer = StateLayer(
        intents=(
            Intent(name="a", depends_on=("b.active",)),
            Intent(name="b", depends_on=("a.pending",)),
            Intent(name="c", depends_on=("gone.completed",)),
            Intent(name="d", depends_on=("e",)),
            Intent(name="e", status="blocked", reason="sold out"),
        )
    )
    check = propagate(layer, FactStore())
    assert check.cycles == (("a", "b"),)
    assert check.unreachable == ("c", "d")


def test_nothing_known_of_a_task_is_not_a_complete_task() -> None:
    assert not SituationState().check().complete


# ----------------------------------------------------------------------------------------------------------------- laws

NAMES = st.sampled_from(["a", "b", "c", "d"])
STATUSES = st.sampled_from(["active", "pending", "completed", "blocked"])
DEPENDENCIES = st.builds(
    "{}.{}".format, NAMES, st.sampled_from(["active", "pending", "completed", "blocked", "resolved"])
)
CHECKS = st.builds(
    "{} x{}.{} {} {}".format,
    st.just("thing"),
    st.integers(1, 2),
    st.sampled_from(["p", "q"]),
    st.sampled_from(["==", "!=", "<", ">="]),
    st.integers(0, 2),
)
LAYERS = st.builds(
    StateLayer,
    intents=st.lists(
        st.builds(Intent, name=NAMES, status=STATUSES, depends_on=st.lists(DEPENDENCIES, max_size=2).map(tuple)),
        max_size=4,
        unique_by=lambda one: one.name,
    ).map(tuple),
    variables=st.lists(
        st.builds(Variable, name=NAMES, known=st.booleans(), needed_by=st.lists(NAMES, max_size=1).map(tuple)),
        max_size=2,
        unique_by=lambda one: one.name,
    ).map(tuple),
    constraints=st.lists(
        st.builds(
            Constraint, name=NAMES, guards=st.lists(NAMES, max_size=2).map(tuple), grounding=CHECKS.map(read_condition)
        ),
        max_size=3,
        unique_by=lambda one: one.name,
    ).map(tuple),
)
WRITES = st.lists(
    st.tuples(st.sampled_from(["x1", "x2"]), st.sampled_from(["p", "q"]), st.integers(0, 2)),
    max_size=4,
    unique_by=lambda one: one[:2],
)


def store(writes: list[tuple[str, str, int]]) -> FactStore:
    facts = FactStore()
    for id, attribute, value in writes:
        facts.write(EntityKey("thing", id), attribute, value, Source("observed", 1, "get"))
    return facts


@settings(max_examples=150, deadline=None)
@given(LAYERS, WRITES)
def test_the_order_of_facts_does_not_matter_and_a_missing_fact_violates_nothing(
    layer: StateLayer, writes: list[tuple[str, str, int]]
) -> None:
    check, backwards = propagate(layer, store(writes)), propagate(layer, store(writes[::-1]))
    assert check == backwards
    known = {(id, attribute) for id, attribute, _ in writes}
    for one in check.layer.constraints:
        assert one.grounding is not None
        if (one.grounding.id, one.grounding.tests[0].attribute) not in known:
            assert one.status == "unsatisfied"


@settings(max_examples=150, deadline=None)
@given(LAYERS, WRITES)
def test_what_the_statuses_say_holds(layer: StateLayer, writes: list[tuple[str, str, int]]) -> None:
    facts = store(writes)
    check = propagate(layer, facts)
    violated = {name for one in check.layer.constraints if one.status == "violated" for name in one.guards}
    for said, found in zip(layer.intents, check.layer.intents, strict=True):
        assert (found.status == "completed") == (said.status == "completed")
        if said.status != "completed":
            assert (found.status == "blocked") == (found.name in violated or said.status == "blocked")
        if found.status == "active":
            assert found.name not in dict(check.waiting)
    assert check.complete == (
        bool(layer.intents) and all(one.status in ("completed", "blocked") for one in check.layer.intents)
    )
    for one in check.layer.constraints:
        assert one.grounding is not None
        assert (
            evaluate(one.grounding, facts).holds
            is {"satisfied": True, "violated": False, "unsatisfied": None}[one.status]
        )


@settings(max_examples=60, deadline=None)
@given(LAYERS, WRITES)
def test_checking_twice_is_checking_once_and_an_echo_changes_nothing(
    layer: StateLayer, writes: list[tuple[str, str, int]]
) -> None:
    situation = SituationState()
    situation.propose(layer)
    for id, attribute, value in writes:
        situation.observe("get", {}, {"thing_id": id, attribute: value})
    before = situation.check()
    situation.propose(situation.state)
    once = situation.check()
    assert [one.status for one in once.layer.intents] == [one.status for one in before.layer.intents]
    assert once.layer.constraints == before.layer.constraints
    situation.propose(situation.state)
    assert situation.check() == once


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["basic_economy", "economy", "business"]), min_size=1, max_size=6))
def test_release_follows_the_block_through_any_sequence_of_facts(cabins: list[str]) -> None:
    situation = rebooking()
    for cabin in cabins:
        see_cabin(situation, cabin)
        blocked = cabin == "basic_economy"
        assert (situation.check().status("modify") == "blocked") == blocked
        assert (situation.check().status("rebook") == "active") == blocked
