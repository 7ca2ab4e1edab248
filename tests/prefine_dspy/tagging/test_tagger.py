import asyncio
import random

import dspy
import jsonschema
import pytest
from scripted_lm import Script, lm_of, prompt_of
from tag_world import THAI, THAI_ANGLE, THAI_BRACKET, TOOLS, mutated

from prefine_dspy.errors import InputError
from prefine_dspy.signatures import TagInstruction
from prefine_dspy.tagging import Tagger, TagProblem, demonstrations_from_tags, parse_tags
from prefine_dspy.tagging.tag_schema import phrases
from prefine_dspy.tools import Catalogue, Tool

ANSWER = {"tags": [{"GetRestaurants": [{"cuisine": "Thai"}, {"price_range": "cheap"}]}]}


def asked(answer, sentence=THAI.text, form="values", tools=TOOLS, tagger=None):
    script = answer if isinstance(answer, Script) else Script([answer])
    with dspy.context(lm=lm_of(script)):
        return (tagger or Tagger(form))(instruction=sentence, tools=tools), script


def test_values_become_tags_with_one_lm_call():
    prediction, script = asked(ANSWER)
    assert prediction.tagged == THAI
    assert prediction.text == THAI_ANGLE
    assert prediction.problems == []
    assert not prediction.parse_failed
    assert len(script.requests) == 1


def test_what_the_lm_reads_and_may_answer():
    _, script = asked(ANSWER)
    (request,) = script.requests
    assert TOOLS.prompt_text() in request.system
    assert [message.text for message in request.messages] == [f"instruction: {THAI.text}"]
    schema = request.config.response_format["schema"]
    jsonschema.validate(ANSWER, schema)
    assert list(schema["$defs"].values()) == [{"enum": phrases(THAI.text), "type": "string"}]
    for wrong in ({"cuisine": "Greek"}, {"rating": "Thai"}, {"cuisine": "Thai", "city": "Thai"}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"tags": [{"GetRestaurants": [wrong]}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tags": [{"GetBalloons": []}]}, schema)


def test_the_catalogue_is_in_the_stable_part_of_the_prompt():
    script = Script(lambda _: {"tags": []})
    for sentence in ("One.", "Another one."):
        asked(script, sentence)
    first, second = script.requests
    assert first.system == second.system


def test_a_long_text_may_be_answered_with_any_words_of_it():
    text = " ".join(f"word{n}" for n in range(200))
    prediction, script = asked({"tags": [{"GetHotels": [{"location": "word7"}]}]}, text)
    assert "$defs" not in script.requests[0].config.response_format["schema"]
    assert [prediction.tagged.words(slot) for slot in prediction.tagged.actions[0].slots] == ["word7"]


def test_a_users_utterance_is_tagged_like_an_instruction():
    text = "User: A table in Bern, please.\nAssistant: Which food?\nUser: Thai."
    prediction, _ = asked({"tags": [{"GetRestaurants": [{"city": "Bern"}, {"cuisine": "Thai"}]}]}, text)
    assert parse_tags(prediction.text, TOOLS).tagged == prediction.tagged
    assert prediction.tagged.text == text


def test_what_an_lm_without_a_schema_answers_is_read():
    for answer in (
        'Tags: ```json\n[{"GetRestaurants": {"cuisine": "thai", "price_range": "cheap"}}]\n```',
        '{"tags": [{"function": "get_restaurants", "arguments": {"cuisine": ["Thai"], "price_range": "cheap"}}]}',
        'GetRestaurants(cuisine="Thai", price_range="cheap")',
        '{"tags":[{"GetRestaurants":[{"cuisine":"Thai"}]},{"GetRestaurants":[{"price_range":"cheap"}]}]}',
    ):
        prediction, _ = asked(Script([answer], schema=False))
        assert prediction.tagged == THAI, answer


def test_what_the_catalogue_or_the_sentence_does_not_know_is_counted():
    answer = (
        '{"tags":[{"name":"GetBalloons","arguments":{}},{"GetRestaurants":[{"cuisine":"Greek"},{"stars":"cheap"}]}]}'
    )
    prediction, _ = asked(Script([answer], schema=False))
    assert prediction.text == f"<a:GET_RESTAURANTS> {THAI.text}</a>"
    assert set(prediction.problems) == {
        TagProblem("unknown_function", "GetBalloons"),
        TagProblem("unknown_slot", "stars"),
        TagProblem("not_found", "Greek"),
    }


@pytest.mark.parametrize("form", ["values", "inline"])
def test_an_answer_that_says_nothing_leaves_the_sentence(form):
    prediction, _ = asked("I would rather not.", form=form)
    assert prediction.tagged is None
    assert prediction.text == THAI.text
    assert prediction.parse_failed
    assert prediction.raw == "I would rather not."


def test_no_tags_is_an_answer():
    prediction, _ = asked({"tags": []})
    assert (prediction.tagged.text, prediction.tagged.actions) == (THAI.text, ())
    assert prediction.text == THAI.text
    assert not prediction.parse_failed


def test_a_sentence_without_words_needs_no_lm():
    for sentence in ("", " ?! "):
        prediction, script = asked(Script([]), sentence)
        assert prediction.text == sentence
        assert script.requests == []


@pytest.mark.parametrize("written", [THAI_ANGLE, THAI_BRACKET, THAI_ANGLE.lower(), f"```\n{THAI_ANGLE}\n```"])
def test_the_papers_form(written):
    prediction, script = asked({"tags": written}, form="inline")
    assert prediction.tagged == THAI
    assert prediction.text == THAI_ANGLE
    assert "<a:FUNCTION>" in prompt_of(script.requests[0])


def test_a_tagger_that_changes_words_is_repaired_or_refused_and_counted():
    prediction, _ = asked({"tags": THAI_ANGLE.replace("make it ", "")}, form="inline")
    assert prediction.tagged == THAI
    assert prediction.problems == [TagProblem("words_dropped", "make"), TagProblem("words_dropped", "it")]
    prediction, _ = asked({"tags": "<a:GET_RESTAURANTS> A <sl:CUISINE> Thai</sl> place.</a>"}, form="inline")
    assert prediction.tagged is None
    assert prediction.text == THAI.text
    assert TagProblem("words_added", "place") in prediction.problems
    assert not prediction.parse_failed


@pytest.mark.parametrize("form", ["values", "inline"])
def test_noise_never_breaks_the_tagger(form):
    numbers = random.Random(1)
    seed = '{"tags":[{"GetRestaurants":[{"cuisine":"Thai"}]}]}' if form == "values" else f'{{"tags":"{THAI_ANGLE}"}}'
    script = Script(lambda _: mutated(seed, numbers).replace("\ud800", ""), schema=False)
    for _ in range(60):
        prediction, _ = asked(script, form=form)
        assert prediction.tagged is None or prediction.tagged.text == THAI.text


def test_asynchronously():
    script = Script([ANSWER])
    with dspy.context(lm=lm_of(script)):
        prediction = asyncio.run(Tagger().acall(instruction=THAI.text, tools=TOOLS))
    assert prediction.text == THAI_ANGLE


def test_an_unknown_form_is_refused():
    with pytest.raises(InputError, match="form must be values or inline, not 'xml'"):
        Tagger("xml")


def test_the_saved_state_keeps_the_plain_signature(tmp_path):
    tagger = Tagger()
    tagger.tag.demos = demonstrations_from_tags({THAI.text: THAI_BRACKET}, TOOLS)
    asked(ANSWER, tagger=tagger)
    tagger.save(tmp_path / "tagger.json")
    loaded = Tagger()
    loaded.load(tmp_path / "tagger.json")
    assert loaded.tag.signature.instructions == TagInstruction.instructions
    assert asked(ANSWER, tagger=loaded)[1].requests[0].messages[1].text == (
        '{"tags":[{"GetRestaurants":[{"cuisine":"Thai"},{"price_range":"cheap"}]}]}'
    )


@pytest.mark.parametrize("form", ["values", "inline"])
def test_hand_tags_become_demonstrations(form):
    tags = {
        THAI.text: THAI_BRACKET,
        "Hotels in Oslo, please": "[IN:GET_HOTELS Hotels in [SL: LOCATION Oslo ], please ]",
        "Up and away": "[IN:GET_BALLOONS Up and away ]",
        "Quite another sentence than this": THAI_BRACKET,
    }
    first, second = demonstrations_from_tags(tags, TOOLS, form=form)
    assert set(first.inputs().keys()) == {"instruction"}
    assert (first.instruction, second.instruction) == tuple(tags)[:2]
    if form == "values":
        assert first.tags == ANSWER["tags"]
    else:
        assert second.tags == "<a:GET_HOTELS> Hotels in <sl:LOCATION> Oslo</sl>, please</a>"
    # what a demonstration shows is what the Tagger reads back
    prediction, _ = asked({"tags": first.tags}, form=form)
    assert prediction.tagged == THAI


def test_phrases_are_runs_of_words_without_their_edges():
    found = phrases('Book "Cut & Go", now.')
    assert {"Book", "Cut & Go", "now"} <= set(found)
    assert not {'"Cut & Go"', "now.", "&"} & set(found)
    assert len(found) == len(set(found))


def test_a_function_without_arguments_can_be_tagged():
    tools = Catalogue([Tool(name="GetHelp")])
    prediction, script = asked({"tags": [{"GetHelp": []}]}, "Help me.", tools=tools)
    assert prediction.text == "<a:GET_HELP> Help me.</a>"
    jsonschema.Draft202012Validator.check_schema(script.requests[0].config.response_format["schema"])


@pytest.mark.parametrize("form", ["values", "inline"])
def test_an_answer_nested_beyond_reading_tags_nothing(form):
    deep = '{"tags":' + "[" * 10_000 + "]" * 10_000 + "}"
    prediction, _ = asked(Script(lambda _: deep), form=form)
    assert prediction.tagged in (None, parse_tags(THAI.text).tagged)
    assert prediction.text == THAI.text
