"""Labelled demonstrations for the NLSI programs."""

from __future__ import annotations

import json

import jsonschema
import pytest

from eval.data.labels.nlsi import (
    gold_tagged,
    interpreter_demonstrations,
    joint_demonstrations,
    kind_of,
    selector_demonstrations,
    shown_calls,
    tagged_demonstrations,
    tagger_demonstrations,
)
from eval.data.nlsi import REASONING_TYPES, NlsiInstance, load_nlsi
from prefine_dspy.adapter import answer_schema
from prefine_dspy.grounding import ungrounded
from prefine_dspy.interpreter import NO_INSTRUCTIONS, interpreted, with_tools
from prefine_dspy.selection import numbered_lines
from prefine_dspy.signatures import Interpret, InterpretTagged, SelectInstructions, TagAndInterpret
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.tagging import answers
from prefine_dspy.types import Query
from programs.compilation.demonstrations import choose

LIKES = StandingInstruction(id="1", text="I like Thai food.")


@pytest.fixture(scope="module")
def train():
    return load_nlsi("mini_nlsi", "train")


def instance(gold, said="Find me a restaurant in Porto with Thai food.", *applicable):
    request = InstructedQuery(query=Query.of(said), applicable=applicable, profile=(LIKES,))
    return NlsiInstance(id="x", request=request, gold=tuple(gold), reasoning_type="Plain")


def test_demonstrations_have_the_form_that_the_grammar_allows(train):
    pools = {
        Interpret: interpreter_demonstrations(train.instances, train.tools),
        InterpretTagged: tagged_demonstrations(train.instances, train.tags, train.tools),
        TagAndInterpret: joint_demonstrations(train.instances, train.tags, train.tools),
    }
    for signature, pool in pools.items():
        assert {one.kind[0] for one in pool} == set(REASONING_TYPES)
        schema = answer_schema(with_tools(signature, train.tools))
        for one in pool:
            assert set(one.demo.keys()) == set(signature.fields)
            jsonschema.validate({name: one.demo[name] for name in signature.output_fields}, schema)
    selected = selector_demonstrations(train.instances)
    assert all(set(one.demo.keys()) == set(SelectInstructions.fields) for one in selected)


def test_what_a_demonstration_shows_can_be_read_in_it(train):
    for one in interpreter_demonstrations(train.instances, train.tools):
        read = f"{one.demo.standing}\n{one.demo.query}"
        prediction = interpreted(one.demo.calls, train.tools, read)
        assert not prediction.problems
        assert not any(ungrounded(call, train.tools, read, "") for call in prediction.calls)


def test_arguments_stand_in_the_order_of_the_catalogue(train):
    one = instance(['GetRestaurants(cuisine="Thai", city="Porto")'])
    (call,) = shown_calls(one, train.tools)
    assert list(call["arguments"]) == ["city", "cuisine"]


@pytest.mark.parametrize(
    "gold",
    [
        ['GetRestaurants(city="Oporto")'],  # nobody said it so
        ['GetTrains(city="Porto")'],
        ['GetRestaurants(colour="Thai")'],
        ['GetRestaurants(price_range="Thai")'],  # not of the closed set
        ['GetRestaurants(cuisine="Thai", cuisine="Porto")'],  # the grammar knows no lists
        ['GetRestaurants(city="Porto")', 'GetRestaurants(city="Oporto")'],
        [],
        ['GetRestaurants(city="Porto")'] * 5,
    ],
)
def test_a_row_that_would_teach_to_invent_is_left_out_as_a_whole(train, gold):
    assert interpreter_demonstrations([instance(gold)], train.tools) == []


def test_markers_are_shown(train):
    (call,) = shown_calls(instance(['GetRestaurants(city="Porto", phone_number="?", cuisine="any")']), train.tools)
    assert call["arguments"] == {"city": "Porto", "cuisine": "any", "phone_number": "?"}


def test_a_row_without_instructions_says_so(train):
    (one,) = interpreter_demonstrations([instance(['GetRestaurants(city="Porto")'])], train.tools)
    assert one.demo.standing == NO_INSTRUCTIONS
    (tagged,) = tagged_demonstrations([instance(['GetRestaurants(city="Porto")'])], {}, train.tools)
    assert tagged.demo.tagged == NO_INSTRUCTIONS


def test_an_instruction_without_gold_tags_leaves_its_row_out(train):
    one = instance(['GetRestaurants(cuisine="Thai")'], "Find me a restaurant.", LIKES)
    assert tagged_demonstrations([one], {}, train.tools) == []
    tags = {LIKES.text: "[IN:GET_RESTAURANTS I like [SL:CUISINE Thai ] food. ]"}
    (shown,) = tagged_demonstrations([one], tags, train.tools)
    assert shown.demo.tagged == "- <a:GET_RESTAURANTS> I like <sl:CUISINE> Thai</sl> food.</a>"
    assert joint_demonstrations([one], {LIKES.text: "other words"}, train.tools) == []


def test_tagger_demonstrations_are_what_it_should_answer(train):
    pool = tagger_demonstrations(train.tags, train.tools)
    assert len(pool) > 100
    by_text = {one.demo.instruction: one.demo.tags for one in pool}
    for text, tags in list(by_text.items())[:20]:
        assert tags == answers.answer_of(gold_tagged(text, train.tags, train.tools))
    assert {"1 values", "2 values", "several functions"} <= {one.kind[0] for one in pool}


def test_selector_demonstrations_number_the_profile(train):
    for one, demo in zip(train.instances, selector_demonstrations(train.instances), strict=True):
        assert demo.demo.profile == numbered_lines(one.request.profile)
        ids = [one.request.profile[number - 1].id for number in demo.demo.numbers]
        assert set(ids) == {applicable.id for applicable in one.request.applicable}
    foreign = instance(["GetRestaurants()"], "x", StandingInstruction(id="applicable-1", text="not in the profile"))
    assert selector_demonstrations([foreign]) == []


def test_kinds_are_the_reasoning_types(train):
    assert {kind_of(one) for one in train.instances} == {(name,) for name in REASONING_TYPES}


@pytest.mark.shared_data
@pytest.mark.parametrize("seed", [0, 1, 42])
def test_forty_demonstrations_cover_all_functions_and_types(shared_data, seed):
    data = load_nlsi(shared_data / "nlsi", "train", shared_data / "taps" / "train_instructions_golden.csv")
    for pool in (
        interpreter_demonstrations(data.instances, data.tools),
        tagged_demonstrations(data.instances, data.tags, data.tools),
    ):
        assert len(pool) >= 140
        chosen = {json.dumps(demo.toDict(), sort_keys=True) for demo in choose(pool, 40, seed)}
        shown = [one for one in pool if json.dumps(one.demo.toDict(), sort_keys=True) in chosen]
        assert len({name for one in shown for name in one.covers}) == 17
        assert {one.kind[0] for one in shown} == set(REASONING_TYPES)
