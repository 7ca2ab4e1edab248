"""Every form of facts shows every current value, no replaced one, and gives way to a budget."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import tau_runs

from prefine_dspy.situation import RENDERERS, EntityKey, SituationState
from prefine_dspy.situation.identity import scalar_text
from prefine_dspy.situation.snapshot import snapshot

FORMS: tuple[Any, ...] = tuple(RENDERERS)
USER = {
    "name": {"first": "Ann", "last": "Lee"},
    "cards": {"c_1": {"kind": "visa", "id": "c_1", "left": None}, "c_2": {"kind": "gift", "id": "c_2", "amount": 12.5}},
    "guests": [{"first": "Bo", "born": "1990-01-01"}, {"first": "Cy (Jr.)", "born": "1991-01-01"}],
    "orders": ["O1", "O 2"],
    "options": [{"color": "red"}, {"size": "9;"}, {"fit": "a=b"}],
    "note": "-",
    "empty": "",
    "old": True,
}


def with_user(form: Any) -> SituationState:
    situation = SituationState(form=form)
    situation.observe("get_user", {"user_id": "u17"}, USER)
    situation.observe("search", {"town": "Ulm"}, [{"shop_id": f"S{at}", "rating": at, "open": True} for at in range(3)])
    return situation


# ------------------------------------------------------------------------------------------------- reading a table back

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\](){};]|[^\s\[\](){};"]+')


class Tokens:
    """Reads the table form back, every scalar as its text: a header's columns name the cells of the rows below it."""

    def __init__(self, line: str) -> None:
        self.left = TOKEN.findall(line)[::-1]

    def peek(self) -> str:
        return self.left[-1] if self.left else ""

    def next(self) -> str:
        token = self.left.pop()
        return str(json.loads(token)) if token.startswith('"') else token

    def skip(self, *tokens: str) -> None:
        for token in tokens:
            assert self.next() == token

    def columns(self) -> list[tuple[str, Any]]:
        self.skip("(")
        found = []
        while self.peek() != ")":
            found.append((self.next(), self.shape()))
        self.skip(")")
        return found

    def shape(self) -> Any:
        kind = {"(": "record", "[": "records", "{": "map"}.get(self.peek(), "atom")
        key = ""
        if kind in ("records", "map"):
            self.next()
        if kind == "map":
            key = self.next().removesuffix(":")
        columns = self.columns() if kind != "atom" else []
        if kind in ("records", "map"):
            self.next()
        return kind, columns, key

    def row(self, columns: list[tuple[str, Any]]) -> dict[str, Any]:
        found = {}
        for name, shape in columns:
            if self.peek() == "-":
                self.next()
            else:
                found[name] = self.cell(*shape)
        return found

    def cell(self, kind: str, columns: list[tuple[str, Any]], key: str) -> Any:
        if kind == "atom":
            return self.value()
        closing = {"(": ")", "[": "]", "{": "}"}[self.next()]
        rows: list[Any] = []
        while self.peek() != closing:
            own = {key: self.next()} if kind == "map" else {}
            rows.append(own | self.row(columns))
            if self.peek() == ";":
                self.next()
        self.skip(closing)
        return rows[0] if kind == "record" else rows if kind == "records" else {one[key]: one for one in rows}

    def value(self) -> Any:
        if self.peek() == "[":
            self.next()
            values = []
            while self.peek() != "]":
                values.append(self.value())
            self.next()
            return values
        if self.peek() == "{":
            self.next()
            found = {}
            while self.peek() != "}":
                name, value = self.pair()
                found[name] = value
            self.next()
            return found
        return self.next()

    def pair(self) -> tuple[str, Any]:
        """`name=value`, either of them in quotes or the value in brackets."""
        quoted = self.peek().startswith('"')
        name, _, rest = ("", "", self.next()) if quoted else self.next().partition("=")
        if quoted:
            name, rest = rest, self.left.pop().removeprefix("=")
        return name, rest or self.value()


def read_table(text: str, types: set[str]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """(type, id, search) -> values of every entity in a text of the table form."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    type, columns, shared = "", [], {}
    for line in text.split("\n"):
        tokens = Tokens(line)
        if tokens.peek() in types:
            type, columns, shared = tokens.next(), [], {}
            while tokens.peek() not in ("(", ""):
                if tokens.peek()[0] == "@":
                    tokens.next()
                else:
                    name, value = tokens.pair()
                    shared[name] = value
            columns = tokens.columns() if tokens.peek() else []
            found[(type, "", "")] = shared
        else:
            id = tokens.next()
            found[(type, id, str(sorted(shared.items())))] = shared | tokens.row(columns)
    return found


def as_text(value: Any) -> Any:
    """A value with its scalars as they are written."""
    if isinstance(value, EntityKey):
        return value.id
    if isinstance(value, dict):
        return {key: as_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_text(one) for one in value]
    return scalar_text(value)


def assert_table_tells_all(situation: SituationState) -> int:
    """Every entity with all its current values is in the table; how many there were."""
    views = snapshot(situation.facts)
    read = read_table(situation.render_facts(), {view.key.type for view in views})
    for view in views:
        wanted = {name: as_text(value) for name, value in view.values.items()}
        candidates = [values for (type, id, _), values in read.items() if (type, id) == (view.key.type, view.key.id)]
        # what the id itself tells is not repeated as a column
        assert any(
            all(values.get(name, view.key.id) == value for name, value in wanted.items())
            and all(values.get(name) == value for name, value in view.key.scope)
            for values in candidates
        ), (view, candidates)
    return len(views)


def test_the_table_tells_every_value_and_what_it_belongs_to() -> None:
    situation = with_user("table")
    assert assert_table_tells_all(situation) == 4
    assert "shop @2 town=Ulm open=true (rating)" in situation.render_facts()
    assert "guests[(first born)]" in situation.render_facts() and "{id: (kind left amount)}" in situation.render_facts()


@pytest.mark.shared_data
def test_on_every_recorded_run_the_table_tells_every_value(shared_data: Path) -> None:
    told = 0
    for run in tau_runs(shared_data):
        situation = SituationState()
        for call in run.calls:
            situation.observe(call.tool, call.arguments, call.result)
        told += assert_table_tells_all(situation) if run.calls else 0
    assert told == 1_823


def test_json_tells_every_value_with_its_type() -> None:
    situation = with_user("json")
    objects = [json.loads(line) for line in situation.render_facts().split("\n")]
    assert objects[0] == {"type": "user", "id": "u17", "step": 1, "facts": USER}
    assert objects[1]["found_for"] == {"town": "Ulm"}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_shows_a_replaced_value_and_all_show_the_current_one(form: Any) -> None:
    situation = SituationState(form=form)
    situation.observe("get_user", {"user_id": "u17"}, {"email": "old@here", "cards": ["c_1", "c_2"]})
    situation.observe("get_user", {"user_id": "u17"}, {"email": "new@here", "cards": ["c_1"]})
    text = situation.render_facts()
    assert "new@here" in text and "old@here" not in text and "c_2" not in text


@pytest.mark.parametrize("form", FORMS)
def test_equal_observations_render_equally(form: Any) -> None:
    assert with_user(form).render() == with_user(form).render()


def test_the_papers_form() -> None:
    situation = SituationState(form="lines")
    situation.observe("get_trip", {"trip_id": "T1"}, {"trip_id": "T1", "legs": [{"from": "AAA"}], "bags": []})
    assert situation.render_facts() == (
        "[Entity: Trip T1]\ntype: trip\nid: T1\nsource: get_trip(trip_id=T1), step 1\n"
        "trip_id: T1\nlegs[0].from: AAA\nbags: []"
    )


def test_what_stands_in_the_history_is_not_shown_twice() -> None:
    situation = SituationState()
    situation.observe("find_user", {"zip": "0012"}, "user_17")
    situation.observe("find_user", {"zip": "0013"}, "Error: nobody")
    situation.observe("search", {"q": "x"}, [])
    assert "user_17" in situation.render_facts() and "nobody" in situation.render_facts()
    assert situation.render_facts(with_history=True) == ""
    assert SituationState().render() == ""


def count_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("form", FORMS)
def test_a_budget_is_kept_by_naming_what_is_left_out(form: Any) -> None:
    situation = SituationState(form=form, count_tokens=count_words)
    situation.observe("get_user", {"user_id": "u17"}, {"email": "a@b.c"})
    for day in (1, 2):
        found = [{"flight_number": f"XY{day}{at}", "price": at} for at in range(6)]
        situation.observe("search", {"day": day}, found)
    everything = situation.render()
    for budget in range(8, count_words(everything) + 1):
        text = situation.render(budget)
        assert count_words(text) <= budget
        if text != everything:
            assert "not shown: " in text
    assert situation.render(10_000) == everything


def test_old_listings_give_way_first_and_what_a_constraint_needs_last() -> None:
    situation = SituationState(count_tokens=count_words)
    situation.require("cheap", "flight XY10.price < 50")
    for day in (1, 2):
        found = [{"flight_number": f"XY{day}{at}", "price": at, "note": f"{at} b c d e f g"} for at in range(3)]
        situation.observe("search", {"day": day}, found)
    situation.observe("get_user", {"user_id": "u17"}, {"email": "a@b.c"})
    text = situation.render_facts(budget=count_words(situation.render_facts()) - 8)
    assert text.endswith("not shown: flight (day=1) XY11 XY12")
    assert "\nXY20" in text and "a@b.c" in text and "XY10 0" in text


def test_the_state_is_never_left_out() -> None:
    situation = SituationState()
    situation.propose({"intents": {"pay": "active"}})
    situation.observe("get_user", {"user_id": "u17"}, USER)
    assert "pay -> active" in situation.render(budget=1)


def test_halves_of_characters_do_not_get_into_a_prompt() -> None:
    situation = SituationState()
    situation.observe("get_user", {"user_id": "u17"}, '{"name": "\\ud800x"}')
    situation.propose({"intents": ["\ud800"]})
    text = situation.render()
    assert text.encode("utf-8") and "x" in text and "u17" in text
