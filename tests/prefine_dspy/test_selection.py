"""Selecting standing instructions: by words, by embedding, by an LM."""

from __future__ import annotations

import dspy
import pytest
from scripted_lm import Script, lm_of
from tag_world import TOOLS

from prefine_dspy.errors import InputError
from prefine_dspy.selection import (
    BM25Selector,
    EmbeddingSelector,
    LMSelector,
    SelectThenInterpret,
    numbered_lines,
    selector,
    with_selected,
)
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.types import Query, ToolCall

TEXTS = ("I like Thai restaurants.", "Salons must be unisex.", "Hotels should have wifi.", "Thai food must be cheap.")
PROFILE = tuple(StandingInstruction(id=f"i{n}", text=text) for n, text in enumerate(TEXTS))


def request(text="Find me Thai food in Porto.", profile=PROFILE, applicable=()):
    return InstructedQuery(query=Query.of(text), profile=profile, applicable=applicable)


class Letters:
    """An embedder that counts three letters."""

    def __call__(self, texts):
        return [[text.casefold().count(letter) for letter in "tow"] for text in texts]


@pytest.fixture
def by_letters(monkeypatch):
    monkeypatch.setattr("prefine_dspy.selection.resolve_embedder", lambda name: Letters())


def test_bm25_takes_what_shares_words_in_the_order_of_the_profile():
    prediction = BM25Selector(k=2)(request=request())
    assert prediction.selected == ["i0", "i3"]
    assert prediction.scores["i0"] > 0 == prediction.scores["i1"]
    assert BM25Selector(k=1)(request=request("hotel and hotels with wifi")).selected == ["i2"]


def test_bm25_leaves_out_what_shares_nothing():
    assert BM25Selector(k=3)(request=request("Hotels, please.")).selected == ["i2"]
    for text in ("Zzz qqq", "the and of", "!!!"):
        assert BM25Selector()(request=request(text)).selected == []
    assert BM25Selector()(request=request(profile=())).selected == []
    stop_words = (StandingInstruction(id="a", text="the"),)
    assert BM25Selector()(request=request(profile=stop_words)).selected == []


def test_bm25_reads_profiles_with_a_line_without_words():
    mixed = (StandingInstruction(id="a", text="..."), *PROFILE)
    assert BM25Selector(k=2)(request=request(profile=mixed)).selected == ["i0", "i3"]


def test_the_nearest_are_selected(by_letters):
    prediction = EmbeddingSelector(k=1)(request=request("o o t"))
    assert prediction.selected == ["i1"]
    assert list(prediction.scores) == ["i0", "i1", "i2", "i3"]


def test_an_embedding_of_nothing_is_near_to_nothing(by_letters):
    assert EmbeddingSelector(k=4)(request=request("xyz")).selected == []
    assert EmbeddingSelector()(request=request(profile=())).selected == []


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "3"])
def test_k_is_a_number_of_instructions(k):
    with pytest.raises(InputError, match="whole number"):
        BM25Selector(k=k)


def lm_selects(answer, profile=PROFILE, schema=True):
    script = Script([answer], schema=schema)
    with dspy.context(lm=lm_of(script)):
        return LMSelector()(request=request(profile=profile)), script


def test_an_lm_names_numbers():
    prediction, script = lm_selects({"numbers": [4, 1, 1]})
    assert prediction.selected == ["i0", "i3"]
    assert not prediction.parse_failed and not prediction.problems
    assert numbered_lines(PROFILE) in script.requests[0].messages[-1].text
    assert numbered_lines(PROFILE).splitlines()[0] == "1. I like Thai restaurants."


def test_numbers_that_no_instruction_has_are_counted():
    prediction, _ = lm_selects({"numbers": [0, 2, 9, -1]})
    assert prediction.selected == ["i1"]
    assert len(prediction.problems) == 3


def test_none_may_apply():
    assert lm_selects({"numbers": []})[0].selected == []


def test_an_unreadable_selection_is_a_failure():
    prediction, _ = lm_selects("all of them, I think", schema=False)
    assert prediction.selected == [] and prediction.parse_failed
    assert prediction.raw == "all of them, I think"


def test_a_profile_without_instructions_asks_nobody():
    prediction, script = lm_selects({"numbers": [1]}, profile=())
    assert prediction.selected == [] and not script.requests


def test_selected_instructions_become_the_applicable_ones():
    chosen = with_selected(request(applicable=PROFILE[:1]), ["i3", "i2", "unknown"])
    assert [one.id for one in chosen.applicable] == ["i2", "i3"]


def test_the_whole_task_reads_only_what_it_selected():
    call = {"calls": [{"function": "GetRestaurants", "arguments": {"cuisine": "Thai", "city": "Porto"}}]}
    script = Script([{"numbers": [1]}, call])
    gold = request(applicable=PROFILE[1:2])
    with dspy.context(lm=lm_of(script)):
        prediction = SelectThenInterpret()(request=gold, tools=TOOLS)
    assert prediction.selected == ["i0"]
    assert prediction.calls == [ToolCall.of("GetRestaurants", cuisine="Thai", city="Porto")]
    assert "Salons" not in script.requests[1].messages[-1].text


def test_selectors_by_name(by_letters):
    kinds = [type(selector(by, 2, "local")) for by in ("lm", "bm25", "embedding")]
    assert kinds == [LMSelector, BM25Selector, EmbeddingSelector]
    with pytest.raises(InputError, match="lm, bm25 or embedding"):
        selector("magic", 2, "local")


def test_an_answer_nested_beyond_reading_is_a_failure():
    script = Script(lambda _: '{"numbers":' + "[" * 10_000 + "]" * 10_000 + "}")
    with dspy.context(lm=lm_of(script)):
        prediction = LMSelector()(request=request(profile=PROFILE))
    assert prediction.selected == [] and prediction.parse_failed


def test_half_a_character_in_a_profile_is_a_question_mark():
    assert numbered_lines([StandingInstruction(id="1", text="a\ud800 b")]) == "1. a? b"
