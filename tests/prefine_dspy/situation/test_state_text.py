"""The `<state>` form: four notations that read back, the paper's ones read, hostile ones survived."""

from __future__ import annotations

import json
import random
import string
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefine_dspy.situation import (
    Constraint,
    Intent,
    SituationState,
    StateLayer,
    Variable,
    read_condition,
    state_text,
    without_state,
    write_state,
)
from prefine_dspy.situation.state_reading import read_sections

FORMS: tuple[Any, ...] = ("json", "yaml", "dialect", "short")
FULL = StateLayer(
    intents=(
        Intent(name="modify_trip", status="blocked", reason="R42.cabin = basic violates the rule"),
        Intent(name="rebook", status="active", goal="cancel, then book: again", depends_on=("modify_trip.blocked",)),
        Intent(name="Notify friend", status="pending", depends_on=("rebook.resolved", "modify_trip.blocked")),
    ),
    variables=(
        Variable(name="reservation_id", value="0042", source="askable", known=True),
        Variable(name="bags", value=2, source="askable", known=True, needed_by=("rebook",)),
        Variable(name="route", value="AAA to BBB", source="retrievable", known=True, evidence='R42 "route" | seen'),
        Variable(name="backlight", value="none", source="askable", known=True),
        Variable(name="times", value=["08:00", "09 h"], source="derivable", known=True),
        Variable(name="flight", source="retrievable"),
    ),
    constraints=(
        Constraint(
            name="C1",
            condition="no basic fare",
            status="violated",
            guards=("modify_trip",),
            grounding=read_condition("reservation R42.cabin != basic"),
            kind="policy",
            evidence="R42.cabin = basic",
        ),
        Constraint(name="within a day", condition="within a day", status="unsatisfied", guards=("rebook",)),
    ),
)


def taken_over(text: str) -> StateLayer:
    situation = SituationState()
    proposal = situation.propose(text)
    assert proposal.applied and not proposal.problems, proposal.problems
    return situation.said


@pytest.mark.parametrize("form", FORMS)
def test_every_notation_reads_back_to_the_same_state(form: Any) -> None:
    text = write_state(FULL, form)
    assert taken_over(f"Done.\n<state>\n{text}\n</state>") == FULL


@pytest.mark.parametrize("form", FORMS)
def test_a_state_in_a_fence_or_without_a_tag_is_read(form: Any) -> None:
    assert taken_over(f"```yaml\n{write_state(FULL, form)}\n```") == FULL


def test_the_notation_flattened_into_one_line_reads_the_same() -> None:
    for form in ("dialect", "short"):
        assert taken_over(" ".join(write_state(FULL, form).split())) == FULL


def test_lists_with_dashes_are_read_in_the_papers_form_too() -> None:
    text = "intents:\n- name: a\n- name: b\n  depends_on:\n    - a.completed\n    - 'a.blocked'\n"
    text += "  status: active | reason: x"
    assert taken_over(text).intents[1].depends_on == ("a.completed", "a.blocked")


def test_the_papers_list_form_with_two_fields_a_line() -> None:
    text = """<state>
intents:
  - name: "change_seat"
    status: BLOCKED
    reason: "seat map closed"
    depends_on: []
  - name: "ask_desk"
    status: active
    depends_on: ["change_seat.blocked"]
variables:
  - name: "seat"
    value: null
    source: askable | known: false
  - name: "bags"
    value: 2
    source: ASKABLE | known: true
    evidence: "said so: two bags"
constraints:
  - scope: "change_seat"
    condition: "seat map is open"
    status: violated
    evidence: "map.open = false"
</state>"""
    layer = taken_over(text)
    assert [(one.name, one.status) for one in layer.intents] == [("change_seat", "blocked"), ("ask_desk", "active")]
    assert [(one.name, one.value, one.known) for one in layer.variables] == [("seat", None, False), ("bags", 2, True)]
    (rule,) = layer.constraints
    assert (rule.guards, rule.condition, rule.status) == (("change_seat",), "seat map is open", "violated")


def test_the_papers_short_form_with_arrows() -> None:
    text = (
        'Intents: I1: "Swap the lamp" → blocked reason: colour is gone I1-fallback: "Any colour" → active '
        'depends_on: [I1.blocked] I2: "Swap the desk" $\\to$ active Variables: price_diff: -3.17 source: derivable | '
        'known: true evidence: "9.16 − 12.33" pick: null source: derivable | known: false Constraints: '
        'C1: "red and tall" → violated evidence: "L7 unavailable" C2: "fallback" → satisfied'
    )
    situation = SituationState()
    assert situation.propose(text).applied
    layer = situation.said
    assert [(one.name, one.goal, one.status) for one in layer.intents] == [
        ("I1", "Swap the lamp", "blocked"),
        ("I1-fallback", "Any colour", "active"),
        ("I2", "Swap the desk", "active"),
    ]
    assert layer.intents[0].reason == "colour is gone" and layer.intents[1].depends_on == ("I1.blocked",)
    assert [(one.name, one.value, one.known) for one in layer.variables] == [
        ("price_diff", -3.17, True),
        ("pick", None, False),
    ]
    assert [(one.name, one.status) for one in layer.constraints] == [("C1", "violated"), ("C2", "satisfied")]
    assert situation.problems["unlinked"] == 2


def test_yaml_keeps_times_dates_and_words_as_text_and_refuses_aliases() -> None:
    text = "variables:\n- {name: at, value: 13:28, known: true}\n- {name: day, value: 2030-01-02, known: true}\n"
    text += "- {name: ok, value: yes, known: true}\n- {name: id, value: '17', known: true}"
    assert [one.value for one in taken_over(text).variables] == ["13:28", "2030-01-02", "yes", "17"]
    started = time.monotonic()
    bomb = "intents: &a [x, x]\nvariables: &b [*a, *a]\nconstraints: [*b, *b]"
    SituationState().propose(bomb)
    assert time.monotonic() - started < 2


def test_a_missing_or_broken_state_keeps_the_old_one_and_counts() -> None:
    situation = SituationState()
    situation.propose(FULL)
    for answer, kind in (("no state here", "missing"), ("<state>???</state>", "unreadable"), ("", "missing")):
        proposal = situation.propose(answer)
        assert not proposal.applied and [one.kind for one in proposal.problems] == [kind]
    assert situation.said == FULL and situation.stale == 3
    assert situation.problems == {"missing": 2, "unreadable": 1}
    situation.propose(FULL)
    assert situation.stale == 0


def test_the_last_tag_counts_and_none_is_left_in_the_text() -> None:
    answer = "Sure.<state>intents: [a]</state> I will.\n< STATE >\nintents: [b]\n</ State> Bye"
    assert state_text(answer) == "intents: [b]"
    assert without_state(answer) == "Sure.\nI will.\nBye"
    assert without_state("Hello <state>intents: [") == "Hello"
    assert without_state("a</state>b") == "ab"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<state>", "</state>", "<state", ">", "</sta", "te>", "<STATE a=1>", "secret", " "]),
        max_size=14,
    )
)
def test_the_tag_never_leaks(parts: list[str]) -> None:
    left = without_state("".join(parts))
    assert state_text(left) is None
    assert "</state>" not in left.casefold()


# ------------------------------------------------------------------------------------------------------------ mutations

NOISE = (
    *string.printable,
    "→",
    "<state>",
    "</state>",
    "- ",
    ": ",
    "[",
    "{",
    "&a ",
    "*a",
    "|",
    "\ud800",
    "名",
    "null",
    "1e999",
)


def mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 6)):
        at, end = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
        text = chance.choice(
            (
                text[:at] + text[end:] if end - at < 40 else text[:at] + text[at + 1 :],
                text[:at] + chance.choice(NOISE) + text[at:],
                text[:at] + text[at:end][:30] + text[at:],
                text[:at],
            )
        ) or chance.choice(NOISE)  # fmt: skip
    return text


def test_3000_mutated_states_never_raise_and_leave_a_state_that_can_be_written_and_checked() -> None:
    chance = random.Random(7)
    short = StateLayer(intents=FULL.intents, variables=FULL.variables[:2], constraints=FULL.constraints[:1])
    texts = [f"Ok.<state>{write_state(short, form)}</state>" for form in FORMS]
    situation = SituationState()
    for number in range(3_000):
        if number % 200 == 0:
            situation = SituationState()
        proposal = situation.propose(mutated(texts[number % 4], chance))
        assert proposal.applied or proposal.problems
        if number % 20 == 0:
            assert situation.render(budget=200) is not None
            situation.render().encode()
    assert situation.check().layer is situation.state


def test_7000_mutated_returns_never_raise_and_are_never_lost() -> None:
    chance = random.Random(11)
    returns = (
        json.dumps(
            [{"flight_number": "XY7", "prices": {"economy": 12.5}}, {"flight_number": "XY8", "seats": [1, None]}]
        ),
        json.dumps({"order_id": "O1", "items": [{"item_id": "I1", "options": {"a b": True}}]}),
        "Found:\n" + '{"id": "F8", "cost": 350}\n{"id": "F9", "cost": 1}',
        "{'user id': 'u1', 'orders': [('a', 1)], 'x': \"it's\"}",
        "Store(name=A, B (c), store_id=S1, tags=['x'], at=5 longitude:1.5,latitude:2.5)\nStore(name=D, store_id=S2)",
        "Order(order_id:O1, time:08:00, products:[{'a': 1})",
        "city: Ulm, weather: fine\ncity: Bonn, weather: wet",
    )
    situation = SituationState()
    for number in range(7_000):
        if number % 300 == 0:
            situation = SituationState(form=("table", "nested", "json", "lines")[number // 300 % 4])
        seen = situation.observe(
            chance.choice(("get_it", "search")), {"q": number % 5}, mutated(returns[number % 7], chance)
        )
        assert seen.entities and all(key in situation.facts for key in seen.entities)
        if number % 100 == 0:
            situation.render().encode()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "{" * 20_000,
        '{"state":' * 2_000 + "1" + "}" * 2_000,
        "intents:\n" + "- name: " * 2_000,
        "intents: " + "a " * 9_000,
        "intents:" + " " * 19_000 + "x",
        "variables:\n- value: " + "[" * 5_000,
        "constraints:\n" + "C: -> " * 3_000,
        'intents: "' + "\\" * 15_000,
        "intents:\n- name: " + "9" * 5_000 + "\n  status: " + "9" * 5_000,
        "intents: {a: &x 1, b: *x}",
        "x" * 100_000,
    ],
)
def test_hostile_states_are_read_or_refused_quickly(text: str) -> None:
    started = time.process_time()
    SituationState().propose(f"<state>{text}</state>")
    read_sections(text)
    assert time.process_time() - started < 5
