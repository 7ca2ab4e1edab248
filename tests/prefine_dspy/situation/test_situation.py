"""The public state: proposals, outside sources, ablations, history."""

from __future__ import annotations

from typing import Any

import pytest

from prefine_dspy.errors import InputError
from prefine_dspy.situation import Derived, Intent, Layers, ResidualHistory, SituationState, StateLayer, Variable

RULE = "order O1.status == pending"


def test_what_is_left_out_of_a_state_stays_unless_only_the_agent_can_judge_it() -> None:
    situation = SituationState()
    situation.propose(
        {
            "intents": ["a", "b"],
            "variables": [{"name": "x", "value": 1}],
            "constraints": [
                {"name": "checked", "guards": ["a"], "check": RULE},
                {"name": "felt", "guards": ["a"], "status": "satisfied"},
            ],
        }
    )
    proposal = situation.propose({"intents": ["b", "c"], "constraints": []})
    assert [one.name for one in situation.said.intents] == ["a", "b", "c"]
    assert [one.name for one in situation.said.variables] == ["x"]
    assert [one.name for one in situation.said.constraints] == ["checked"]
    assert [(one.kind, one.detail) for one in proposal.problems] == [
        ("kept", "intents: a"),
        ("kept", "constraints: checked"),
    ]


def test_every_kind_of_problem_is_counted_and_the_rest_is_used() -> None:
    situation = SituationState()
    proposal = situation.propose(
        {
            "intents": [
                {"name": "a", "status": "doing"},
                {"status": "active"},
                {"name": "b", "depends_on": "z.done"},
                7,
            ],
            "variables": [{"name": "v", "source": "guessable", "value": "x"}],
            "constraints": [{"name": "c", "check": "be kind", "guards": ["nobody"]}],
        }
    )
    assert {one.kind for one in proposal.problems} == {
        "status",
        "entry",
        "dependency",
        "source",
        "ungroundable",
        "unlinked",
    }
    assert [one.name for one in situation.said.intents] == ["a", "b", "7"]
    assert situation.said.variables[0].known and situation.problems["status"] == 1


def test_a_state_cannot_grow_without_end() -> None:
    situation = SituationState()
    for start in range(0, 200, 50):
        situation.propose({"intents": [f"i{start + at}" for at in range(50)], "variables": {"v": "x" * 10_000}})
    assert len(situation.said.intents) == 40 and len(situation.said.variables[0].value) <= 600
    assert situation.problems["many"]


def test_the_programs_own_constraint_can_neither_be_changed_nor_removed() -> None:
    situation = SituationState()
    situation.require("rule", RULE, guards=["cancel"])
    situation.propose(
        {"intents": ["cancel"], "constraints": [{"name": "rule", "check": "order O1.status == shipped", "guards": []}]}
    )
    situation.propose({"constraints": []})
    situation.observe("get_order", {"order_id": "O1"}, {"order_id": "O1", "status": "shipped"})
    assert situation.check().status("cancel") == "blocked"
    with pytest.raises(InputError, match="write it as"):
        situation.require("vague", "be kind")


def test_a_derivable_variable_is_filled_from_outside_with_its_provenance() -> None:
    situation = SituationState()
    situation.propose(
        {
            "intents": ["book"],
            "variables": [
                {"name": "cabin", "source": "derivable", "known": False},
                {"name": "date", "source": "askable", "known": False},
                {"name": "seat", "source": "derivable", "known": False},
            ],
        }
    )
    asked = []

    def memory(variable: Variable) -> Derived | None:
        asked.append(variable.name)
        return Derived("economy", "preference memory version 3") if variable.name == "cabin" else None

    filled = situation.fill(memory)
    assert asked == ["cabin", "seat"] and [one.name for one in filled] == ["cabin"]
    assert [one.name for one in situation.check().derive] == ["seat"]
    assert (
        'cabin: "economy" source: derivable | known: true provenance: "preference memory version 3"'
        in situation.render()
    )
    situation.propose(f"<state>{situation.render_state()}</state>")
    cabin = situation.said.variable("cabin")
    assert cabin is not None and cabin.provenance, "repeating it keeps where it comes from"
    situation.propose({"variables": [{"name": "cabin", "value": "business", "evidence": "the user said so"}]})
    cabin = situation.said.variable("cabin")
    assert cabin is not None and (cabin.value, cabin.provenance) == ("business", "")
    situation.propose({"variables": [{"name": "note", "value": "x", "provenance": "preference memory"}]})
    note = situation.said.variable("note")
    assert note is not None and note.provenance == "", "an agent cannot claim it"


def test_an_inference_never_replaces_an_observation() -> None:
    situation = SituationState()
    assert situation.infer("order", "O1", "weight", 3, evidence="three boxes")
    situation.observe("get_order", {"order_id": "O1"}, {"order_id": "O1", "status": "pending"})
    assert not situation.infer("order", "O1", "status", "shipped", evidence="a hunch")
    weight, status = situation.find("order O1", "weight"), situation.find("O1", "status")
    assert weight is not None and str(weight.source) == "inferred at step 0: three boxes"
    assert status is not None and status.value == "pending"
    assert situation.find("order O2", "status") is None


def test_without_the_fact_layer_returns_stay_as_they_are() -> None:
    situation = SituationState(Layers(facts=False))
    situation.require("rule", RULE, guards=["cancel"])
    situation.propose({"intents": ["cancel"]})
    seen = situation.observe("get_order", {"order_id": "O1"}, '{"order_id": "O1", "status": "shipped"}')
    assert seen.verbatim and len(situation.facts) == 0
    assert situation.check().status("cancel") == "pending"


def test_without_the_state_layer_there_are_facts_only() -> None:
    situation = SituationState(Layers(state=False))
    assert not situation.propose({"intents": ["cancel"]}).applied
    situation.observe("get_order", {"order_id": "O1"}, {"order_id": "O1", "status": "shipped"})
    assert situation.render_state() == "" and "shipped" in situation.render()


def test_without_constraints_nothing_is_blocked() -> None:
    situation = SituationState(Layers(constraints=False))
    situation.require("rule", RULE, guards=["cancel"])
    situation.propose(
        {"intents": ["cancel"], "constraints": [{"name": "x", "status": "violated", "guards": ["cancel"]}]}
    )
    situation.observe("get_order", {"order_id": "O1"}, {"order_id": "O1", "status": "shipped"})
    assert situation.check().status("cancel") == "pending" and "constraints" not in situation.render()


def test_the_history_holds_what_was_said_and_references_for_what_was_returned() -> None:
    situation, history = SituationState(), ResidualHistory()
    history.user("Cancel my order, please.")
    order = '{"order_id": "O1", "status": "shipped", "items": [{"item_id": "I1"}, {"item_id": "I2"}]}'
    history.tool(situation.observe("get_order", {"order_id": "O1"}, order))
    history.tool(situation.observe("cancel", {"order_id": "O1"}, "Error: it is shipped"))
    history.agent("It is on its way.<state>intents: [cancel]</state>")
    history.agent("<state>intents: []</state>")
    assert history.render().split("\n") == [
        "user: Cancel my order, please.",
        "1. get_order(order_id=O1) -> order O1",
        "2. cancel(order_id=O1) -> Error: it is shipped",
        "agent: It is on its way.",
    ]
    assert order not in history.render(keep_last=1) and order in history.render(keep_last=2)


def test_arguments_and_results_of_any_kind_are_taken() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    situation = SituationState()
    deep: list[Any] = []
    for _ in range(3_000):
        deep = [deep]
    for result in (None, 3.5, True, Odd(), {"a": Odd()}, {1: {2}}, deep, float("nan"), b"x", ("a",)):
        seen = situation.observe("get", {"x": result}, result)
        assert seen.step == situation.step
    situation.observe("get", None, "x")  # type: ignore[arg-type]
    situation.render()


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InputError, match="table, nested, json, lines"):
        SituationState(form="xml")  # type: ignore[arg-type]


def test_typed_states_are_taken_over_as_they_are() -> None:
    situation = SituationState()
    assert situation.propose(StateLayer(intents=(Intent(name="pay", status="active"),))).applied
    assert situation.check().executable == ("pay",)
