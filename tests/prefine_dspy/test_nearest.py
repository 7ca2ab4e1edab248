"""Demonstrations near to a request: which ones, in which order, and that what comes before them never changes."""

from __future__ import annotations

import asyncio
import sys

import dspy
import pytest
from scripted_lm import Script, lm_of
from tag_world import TOOLS

from prefine_dspy.composition import TagAndRepair
from prefine_dspy.errors import InputError, MissingExtra
from prefine_dspy.interpreter import Interpreter, TaggedInterpreter, TaggingInterpreter
from prefine_dspy.nearest import Nearest
from prefine_dspy.signatures import Interpret
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.tagging import Tagger
from prefine_dspy.taps import ExtTag, Taps
from prefine_dspy.types import Query

pytest.importorskip("bm25s")

ANSWER = {"calls": [{"function": "GetSalons", "arguments": {"city": "Bern"}}]}
WORDS = ("a bus to Basel", "Thai food in Porto", "a hotel with wifi", "Thai salon", "Jazz tonight", "a hotel in Porto")


def demo(text, **fields):
    return dspy.Example(standing="(none)", query=f"User: {text}", **{**ANSWER, **fields})


def predictor(texts=WORDS):
    made = dspy.Predict(Interpret)
    made.demos = [demo(text) for text in texts]
    return made


def shown(query, k, fixed=0, texts=WORDS):
    found = Nearest(k, fixed).demonstrations(predictor(texts), {"standing": "(none)", "query": f"User: {query}"})
    return [one.query.removeprefix("User: ") for one in found]


def test_the_nearest_stands_last_and_the_order_is_always_the_same():
    found = shown("Thai food please, somewhere in Porto", 3)
    assert found[-1] == "Thai food in Porto"
    assert set(found[:2]) == {"Thai salon", "a hotel in Porto"}
    assert all(shown("Thai food please, somewhere in Porto", 3) == found for _ in range(3))


def test_rare_words_count_more_than_frequent_ones():
    # three demonstrations speak of trains, one of Zermatt
    texts = ("a train to Bern", "a train at noon", "a train for two", "skiing near Zermatt", "a museum")
    assert shown("a train to the slopes of Zermatt", 1, texts=texts) == ["skiing near Zermatt"]


def test_the_first_ones_stay_and_none_is_shown_twice():
    found = shown("a bus to Basel and Thai food", 2, fixed=2)
    assert found[:2] == list(WORDS[:2]) and found[-1] == "Thai salon"
    assert len(set(found)) == len(found) == 4
    assert shown("Thai", 2, texts=("Thai soup", "Thai soup", "Thai rice")) == ["Thai rice", "Thai soup"]


def test_a_request_is_not_shown_its_own_answer():
    assert "Thai salon" not in shown("Thai salon", 5)


@pytest.mark.parametrize("query", ["", "zzz qqq", "the of and", "?!"])
def test_without_a_common_word_there_are_as_many(query):
    assert len(shown(query, 2)) == 2 and shown(query, 2) == shown(query, 2)


def test_few_and_no_demonstrations():
    assert shown("Thai", 4, fixed=20) == list(WORDS)
    assert shown("Thai", 4, texts=()) == [] and shown("Thai", 4, texts=("",)) == [""]
    assert shown("Thai", 0) == list(WORDS)


def request(text):
    return InstructedQuery(query=Query.of(text), applicable=(StandingInstruction(id="1", text="I like quiet places."),))


def prompts(module, **more):
    script = Script([ANSWER] * 3)
    module.interpret.demos = [demo(text, tagged=["I like quiet places."]) for text in WORDS]
    with dspy.context(lm=lm_of(script)):
        for text in ("Thai food", "a hotel with wifi in Porto", "Jazz"):
            module(request=request(text), tools=TOOLS, **more)
    return [[one.system, *(message.text for message in one.messages)] for one in script.requests]


def test_what_precedes_the_chosen_ones_is_a_prefix_of_every_request():
    found = prompts(Interpreter(nearest=2, fixed=2))
    assert len({tuple(one[: 1 + 2 * 2]) for one in found}) == 1
    assert all(len(one) == 1 + 2 * 4 + 1 for one in found)
    assert ["Thai salon" in found[0][-3], "wifi" in found[1][-3], "Jazz" in found[2][-3]] == [True] * 3
    assert "".join(found[0]).count("Thai food in Porto") == 1
    assert all(len(one) == 1 + 2 * len(WORDS) + 1 for one in prompts(Interpreter()))


def test_every_interpreter_has_it():
    for module, more in ((TaggingInterpreter(nearest=1), {}), (TaggedInterpreter(nearest=1), {"tags": ["x"]})):
        assert all(len(one) == 1 + 2 + 1 for one in prompts(module, **more))
    taps = Taps(nearest=3, fixed=1)
    assert taps.default.interpreter.nearest == taps.ext_tag.interpreter.nearest == Nearest(3, 1)
    assert taps.deepcopy().default.interpreter.nearest == Nearest(3, 1)
    assert taps.ext_tag.tagger.nearest == Nearest()
    for own in (Taps(tag_nearest=3, tag_fixed=1).ext_tag, ExtTag(tag_nearest=3, tag_fixed=1)):
        assert own.deepcopy().tagger.nearest == Nearest(3, 1) and own.interpreter.nearest == Nearest()
    assert TagAndRepair(tag_nearest=3, tag_fixed=1).tagger.nearest == Nearest(3, 1)


def test_a_tagger_shows_the_instructions_that_are_worded_alike():
    tagger = Tagger(nearest=1)
    tagger.tag.demos = [
        dspy.Example(instruction=f"I like {what} best", tags=[]) for what in ("trains", "films", "rice")
    ]
    script = Script(lambda _: {"tags": []})
    with dspy.context(lm=lm_of(script)):
        tagger(instruction="Old films are good", tools=TOOLS)
        asyncio.run(tagger.acall(instruction="Old trains are good", tools=TOOLS))
    shown = [request.messages[0].text for request in script.requests]
    assert shown == ["instruction: I like films best", "instruction: I like trains best"]


@pytest.mark.parametrize(
    "options, said",
    [
        ({"nearest": -1}, "nearest must be a whole number"),
        ({"nearest": "four"}, "nearest must be a whole number"),
        ({"nearest": True}, "nearest must be a whole number"),
        ({"nearest": 4, "fixed": 0.5}, "fixed must be a whole number"),
        ({"fixed": 20}, "add nearest=4"),
    ],
)
def test_numbers_that_are_none_are_one_line(options, said):
    with pytest.raises(InputError, match=said):
        Interpreter(**options)


def test_without_bm25_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingExtra, match=r"prefine-dspy\[rag\]"):
        Interpreter(nearest=4)
    Interpreter()
