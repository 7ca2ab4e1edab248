"""IDSS's step: one LM call, facts in place of returns, blocked calls, variables filled from memory, the ablations."""

from __future__ import annotations

import pytest
from agent_world import BRIEFING, CHANGE, GET, STATE, Fields, asked, heard, order, returned, run, say

from prefine_dspy.agents import IDSS, Reply, Stop
from prefine_dspy.errors import InputError
from prefine_dspy.types import Choice, Memory, ToolCall

RULE = {
    "condition": "status is open",
    "status": "unsatisfied",
    "guards": ["change"],
    "check": "order o1.status == open",
}
WISH = {
    "intents": [{"name": "change", "status": "active"}, {"name": "refund", "depends_on": ["change.blocked"]}],
    "variables": [],
    "constraints": [RULE],
}
COURSE = [heard("Make it red."), returned(order(status="sent")), heard("Please!")]


def test_one_call_a_step_and_no_return_but_the_last():
    script = Fields([GET, say("Hm."), GET, say("It is open.")])
    course = [heard("wish"), returned(order(note="alpha")), heard("more"), returned(order(note="beta"))]
    run(IDSS(), script, course)
    assert len(script.requests) == 4
    last = script.prompts[-1]
    history, facts = last.partition("history:\n")[2].split("facts:\n")
    assert '"note": "beta"' in history and "alpha" not in last
    assert "1. get_order(order_id=o1) -> order o1" in history
    assert "beta" in facts and "o1" in facts
    assert '"note": "alpha"' in script.prompts[1]


def test_nothing_stays_verbatim_where_nothing_is_to():
    script = Fields([GET, say("It is open.")])
    run(IDSS(keep_last=0), script, [heard("wish"), returned(order(note="alpha"))])
    assert '"note"' not in script.prompts[-1] and "alpha" in script.prompts[-1]


def test_a_violated_constraint_blocks_the_call_and_says_why():
    script = Fields([GET, CHANGE, CHANGE], state=[WISH, STATE, STATE], intent="change")
    decisions = run(IDSS(), script, COURSE)
    assert decisions[0].action == ToolCall.of("get_order", order_id="o1")
    for decision in decisions[1:]:
        assert isinstance(decision.action, Reply)
        assert "cannot be done" in decision.action.text and "status is open" in decision.action.text
        assert decision.notes["blocked"] == 1 and "sent" in decision.notes["problem"]
    shown = script.prompts[1]
    assert "change -> blocked" in shown and "refund -> active" in shown and "blocked: change, because" in shown
    assert f"agent: {decisions[1].action.text}" in script.prompts[2]


def test_the_intent_may_be_spelt_differently():
    script = Fields([GET, CHANGE], state=[WISH, STATE], intent="Change")
    assert run(IDSS(), script, COURSE[:2])[1].notes["blocked"] == 1


def test_reading_for_a_blocked_intent_is_allowed():
    script = Fields([GET, GET, say("No.")], state=[WISH, STATE, STATE], intent="change")
    decisions = run(IDSS(), script, COURSE[:2])
    assert decisions[1].action == ToolCall.of("get_order", order_id="o1")


def test_a_call_for_another_intent_is_made():
    script = Fields([GET, CHANGE], state=[WISH, STATE], intent="refund")
    assert run(IDSS(), script, COURSE[:2])[1].action == ToolCall.of("change_order", order_id="o1", colour="red")


def test_a_block_is_lifted_by_a_new_fact():
    script = Fields([GET, CHANGE, CHANGE], state=[WISH, STATE, STATE], intent="change")
    decisions = run(IDSS(), script, [*COURSE[:2], returned(order(status="open"))])
    assert isinstance(decisions[1].action, Reply) and isinstance(decisions[2].action, ToolCall)


def test_updates_name_only_what_changed():
    states = [
        {
            **STATE,
            "intents": [{"name": "a", "status": "active"}],
            "variables": [{"name": "size", "value": "", "source": "askable"}],
        },
        {**STATE, "variables": [{"name": "size", "value": "XL", "source": "askable"}]},
        {**STATE, "intents": [{"name": "b", "status": "pending"}]},
        STATE,
    ]
    script = Fields([say("Size?"), say("Fine."), say("And b?"), say("Well.")], state=states)
    decisions = run(IDSS(), script, [heard(text) for text in ("wish", "XL", "also b", "so")])
    assert "ask the user for: size" in script.prompts[1]
    last = decisions[-1].notes["state"]
    assert "a -> active" in last and "b -> pending" in last and 'size: "XL"' in last
    assert not any("stale" in decision.notes for decision in decisions)


MEMORY = Memory(
    text="Likes red.",
    version=3,
    evidence=(
        Choice(function="change_order", argument="colour", value="red", sessions=("s1", "s4")),
        Choice(function="change_order", argument="express", value="True", sessions=("s2",)),
    ),
)


def remembering(*variables, **options):
    state = {**STATE, "intents": [{"name": "change", "status": "active"}], "variables": list(variables)}
    script = Fields([say("Which one?"), say("Well.")], state=[state, STATE])
    return script, run(IDSS(**options), script, [heard("wish"), heard("so")], BRIEFING._replace(memory=MEMORY))


def test_an_update_by_names_keeps_the_rest_too():
    rule = {"condition": "the user said yes", "status": "violated", "guards": ["change"]}
    wish = {"intents": {"change": "active"}, "variables": {}, "constraints": {"consent": rule}}
    more = {"intents": {"refund": "pending"}, "constraints": {"receipt": {"status": "satisfied"}}}
    script = Fields([GET, GET, say("No.")], state=[wish, more, STATE], intent="refund")
    run(IDSS(), script, COURSE)
    shown = script.prompts[2]
    assert "consent" in shown and "receipt" in shown and "change -> blocked" in shown and "refund -> pending" in shown


def test_derivable_variables_are_filled_from_the_memory():
    script, decisions = remembering(
        {"name": "colour_preference", "value": "", "source": "derivable"},
        {"name": "express", "value": "", "source": "derivable"},
        {"name": "size", "value": "", "source": "derivable"},
    )
    assert decisions[0].notes["filled"] == 2
    assert decisions[0].notes["remembered"] == {"colour_preference": "red", "express": True}
    shown = script.prompts[1]
    assert 'colour_preference: "red"' in shown and "preference memory version 3 (sessions s1, s4)" in shown
    assert "Likes red." in shown and "colour=red (2 times)" in shown
    assert "work out: size" in shown
    assert "filled" not in decisions[1].notes


def test_what_must_be_asked_is_not_filled():
    script, decisions = remembering({"name": "colour", "value": "", "source": "askable"})
    assert "filled" not in decisions[0].notes and "ask the user for: colour" in script.prompts[1]


def test_without_preferences_the_memory_is_unknown():
    script, decisions = remembering({"name": "colour", "value": "", "source": "derivable"}, preferences=False)
    assert "filled" not in decisions[0].notes
    assert "red" not in script.prompts[1].partition("known:")[2].partition("history:")[0]
    assert "known: (nothing yet)" in script.prompts[1]


DONE = {**STATE, "intents": [{"name": "change", "status": "completed"}]}


def test_the_completion_rule_can_end_the_conversation():
    for ends, kind in ((False, Reply), (True, Stop)):
        script = Fields([GET, say("It is done.")], state=[WISH, DONE])
        decisions = run(IDSS(stop_when_complete=ends), script, [heard("wish"), returned(order())])
        assert not isinstance(decisions[0].action, Stop)
        # refund waits for a block that will not come: not everything is settled
        assert isinstance(decisions[1].action, Reply) and "complete" not in decisions[1].notes
        script = Fields([say("It is done.")], state=DONE)
        (decision,) = run(IDSS(stop_when_complete=ends), script, [heard("wish")])
        assert decision.action == kind(text="It is done.") and decision.notes["complete"] is True


def test_a_call_is_made_even_when_all_is_said_to_be_done():
    script = Fields([CHANGE], state=DONE)
    (decision,) = run(IDSS(stop_when_complete=True), script, [heard("wish")])
    assert isinstance(decision.action, ToolCall)


def test_an_unreadable_state_leaves_the_old_one():
    script = Fields([GET, say("a"), say("b"), say("c")], state=[WISH, "nonsense", None, {"what": 1}])
    decisions = run(IDSS(), script, [heard("wish"), returned(order()), heard("x"), heard("y")])
    assert [decision.notes.get("stale", 0) for decision in decisions] == [0, 1, 1, 1]
    assert "change -> active" in decisions[-1].notes["state"]


def test_a_state_tag_is_read_and_never_shown_to_the_user():
    text = "<state>\nintents:\n- name: change\n  status: active\n</state>"
    script = Fields([say(f"Which order? {text}")], state=text)
    (decision,) = run(IDSS(), script, [heard("wish")])
    assert decision.action == Reply(text="Which order?") and "change -> active" in decision.notes["state"]


def test_a_text_answer_with_a_tag_keeps_its_state():
    script = Fields([])
    script._answer = lambda request: "Hm. <state>\nintents:\n- name: change\n  status: active\n</state>"
    (decision,) = run(IDSS(), script, [heard("wish")])
    assert decision.notes["unparsed"] == 1 and "change -> active" in decision.notes["state"]


def test_the_lm_is_told_what_was_wrong_with_its_last_answer():
    wrong = {"function": "change_order", "arguments": {"order_id": "o1", "colour": "green"}}
    script = Fields([wrong, say("a"), say("b")])
    decisions = run(IDSS(), script, [heard("one"), heard("two"), heard("three")])
    assert decisions[0].notes["refused"] == 1
    assert "could not be used: change_order.colour" in script.prompts[1]
    assert "could not be used" not in script.prompts[2]


@pytest.mark.parametrize(
    ("options", "inputs", "outputs"),
    [
        ({}, {"known", "history", "facts", "situation"}, {"thought", "state", "intent", "action"}),
        ({"facts": False}, {"known", "history", "situation"}, {"thought", "state", "intent", "action"}),
        ({"state": False}, {"known", "history", "facts"}, {"thought", "action"}),
        ({"constraints": False}, {"known", "history", "facts", "situation"}, {"thought", "state", "intent", "action"}),
        ({"facts": False, "state": False}, {"known", "history"}, {"thought", "action"}),
    ],
)
def test_ablations_take_out_their_layer(options, inputs, outputs):
    agent = IDSS(**options)
    assert set(agent.act.signature.input_fields) == inputs and set(agent.act.signature.output_fields) == outputs
    script = Fields([GET, CHANGE, say("x")], state=[WISH, STATE, STATE], intent="change")
    course = [heard("wish"), returned(order(status="sent", note="alpha")), returned(order())]
    decisions = run(agent, script, course)
    blocks = not options or options == {"facts": False}
    # without facts nothing is known to be violated
    assert isinstance(decisions[1].action, Reply) == (blocks and "facts" not in options)
    assert ('"note": "alpha"' in script.prompts[2]) == ("facts" in options)
    # a layer that is out is not spoken of
    assert ("Facts are" in script.prompts[0]) == ("is among the facts" in script.prompts[0]) == ("facts" not in options)
    state = asked(script.requests[0]).get("state")
    if state:
        assert ("constraints" in state["properties"]) == ("constraints" not in options)
        assert ("A constraint is" in script.prompts[0]) == ("constraints" not in options)


def test_the_state_is_bounded_by_its_budget():
    script = Fields([GET, say("a"), say("b")])
    listing = "[" + ",".join(f'{{"order_id": "o{n}", "note": "{"long " * 20}"}}' for n in range(60)) + "]"
    run(IDSS(budget=300, keep_last=0), script, [heard("wish"), returned(listing), heard("more")])
    assert len(script.prompts[1].partition("facts:\n")[2]) < 300 * 4 + 400


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"facts": "no"}, "facts must be true or false"),
        ({"budget": 0}, "budget must be a whole number"),
        ({"keep_last": -1}, "keep_last must be a whole number, 0 or more"),
        ({"form": "xml"}, "there is no form 'xml'"),
        ({"form": ["table"]}, "there is no form"),
    ],
)
def test_wrong_options_are_named(options, says):
    with pytest.raises(InputError, match=says):
        IDSS(**options)
