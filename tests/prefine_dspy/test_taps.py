"""TAPS: the gate decides while answering whether the tagger is worth its calls."""

from __future__ import annotations

import dspy
import pytest
from scripted_lm import Script, lm_of
from tag_world import THAI, THAI_ANGLE, TOOLS

from prefine_dspy.gate import Gate
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.taps import SAMPLES, Default, ExtTag, Taps
from prefine_dspy.types import Query, ToolCall

REQUEST = InstructedQuery(
    query=Query.of("Find me a restaurant in Porto with Thai food."),
    applicable=(StandingInstruction(id="1", text=THAI.text),),
)
BARE = REQUEST.model_copy(update={"applicable": ()})
FIRST = {"calls": [{"function": "GetRestaurants", "arguments": {"city": "Porto", "cuisine": "Thai"}}]}
SECOND = {
    "calls": [
        {"function": "GetRestaurants", "arguments": {"city": "Porto", "cuisine": "Thai", "price_range": "inexpensive"}}
    ]
}
TAGS = {"tags": [{"GetRestaurants": [{"cuisine": "Thai"}, {"price_range": "cheap"}]}]}
FIRST_CALL = ToolCall.of("GetRestaurants", city="Porto", cuisine="Thai")
SECOND_CALL = ToolCall.of("GetRestaurants", city="Porto", cuisine="Thai", price_range="inexpensive")


def run(program, answers, request=REQUEST, logprobs=True):
    script = answers if isinstance(answers, Script) else Script(answers, logprobs=logprobs)
    with dspy.context(lm=lm_of(script)):
        return program(request=request, tools=TOOLS), script


def test_default_says_how_sure_it_was():
    prediction, script = run(Default(), [FIRST])
    assert prediction.calls == [FIRST_CALL]
    # the scripted tokens have log-probability -0.5
    assert prediction.uncertainty["least_confidence"] == pytest.approx(1 - 0.606531, abs=1e-5)
    assert script.requests[0].config.logprobs is not None


def test_without_log_probabilities_nothing_is_claimed():
    script = Script([FIRST])
    script.supported_params = script.supported_params - {"logprobs", "top_logprobs"}
    prediction, _ = run(Default(), script)
    assert prediction.calls == [FIRST_CALL] and prediction.uncertainty == {}
    assert script.requests[0].config.logprobs is None


def test_a_missing_lm_is_said_as_dspy_says_it():
    with dspy.context(lm=None), pytest.raises(Exception, match="No LM is loaded"):
        Default()(request=REQUEST, tools=TOOLS)


def test_ext_tag_reads_what_its_tagger_wrote():
    prediction, script = run(ExtTag(), [TAGS, SECOND])
    assert prediction.calls == [SECOND_CALL]
    assert prediction.tags == [THAI_ANGLE] and prediction.tagged and prediction.tagger_calls == 1
    assert f"tagged: - {THAI_ANGLE}" in script.requests[1].messages[-1].text


def test_a_table_saves_the_tagger():
    prediction, _ = run(ExtTag(table={THAI.text: THAI_ANGLE}), [SECOND])
    assert prediction.tags == [THAI_ANGLE] and prediction.tagged and prediction.tagger_calls == 0


def test_a_table_that_lacks_an_instruction_leaves_it_to_the_tagger():
    prediction, _ = run(ExtTag(table={"another": "x"}), [TAGS, SECOND])
    assert prediction.tagger_calls == 1


def test_the_tagger_may_have_an_lm_of_its_own():
    tagging = Script([TAGS])
    prediction, script = run(ExtTag(lm=lm_of(tagging)), [SECOND])
    assert prediction.calls == [SECOND_CALL]
    assert len(tagging.requests) == len(script.requests) == 1


def test_a_tagger_that_fails_leaves_the_plain_instruction_and_is_counted():
    prediction, script = run(ExtTag(), ["no tags today", FIRST])
    assert prediction.calls == [FIRST_CALL]
    assert prediction.tags == [THAI.text]
    assert prediction.tagger_calls == 1


def test_a_sure_answer_stands():
    prediction, script = run(Taps(threshold=0.9), [FIRST])
    assert prediction.calls == prediction.first_calls == [FIRST_CALL]
    assert not prediction.tagged and prediction.tagger_calls == 0
    assert len(script.requests) == 1


def test_an_unsure_answer_is_given_again_with_tags():
    prediction, script = run(Taps(threshold=0.1), [FIRST, TAGS, SECOND])
    assert prediction.calls == [SECOND_CALL] and prediction.first_calls == [FIRST_CALL]
    assert prediction.tagged and prediction.tagger_calls == 1
    assert prediction.uncertainty["least_confidence"] > 0.1
    assert len(script.requests) == 3


def test_without_instructions_there_is_nothing_to_tag():
    prediction, script = run(Taps(threshold=0.0), [FIRST], BARE)
    assert prediction.calls == [FIRST_CALL] and not prediction.tagged
    assert len(script.requests) == 1


def test_an_lm_without_log_probabilities_counts_as_unsure():
    prediction, _ = run(Taps(threshold=0.99), [FIRST, TAGS, SECOND], logprobs=False)
    assert prediction.tagged and prediction.uncertainty == {}


def test_disagreement_samples_the_same_question():
    other = {"calls": [{"function": "GetRestaurants", "arguments": {"city": "Porto"}}]}
    samples = [FIRST] * (SAMPLES - 2) + [other] * 2
    prediction, script = run(Taps("disagreement", threshold=0.5), [FIRST, *samples], logprobs=False)
    assert prediction.uncertainty["disagreement"] == 2 / SAMPLES
    assert not prediction.tagged
    assert len({request.messages[-1].text for request in script.requests}) == 1
    assert script.requests[0].config.temperature == 0.0 < script.requests[1].config.temperature


def test_the_gate_is_chosen_by_name():
    assert Taps("margin_at_t", 0.3).gate == Gate(estimator="margin_at_t", threshold=0.3)


def test_every_step_can_be_compiled():
    names = [name for name, _ in Taps().named_predictors()]
    assert sorted(names) == ["default.interpreter.interpret", "ext_tag.interpreter.interpret", "ext_tag.tagger.tag"]


def test_two_requests_at_once_do_not_mix():
    program = Taps(threshold=0.1, table={THAI.text: THAI_ANGLE})
    answers = Script(
        lambda request: SECOND if "tagged: - " in (request.messages[-1].text or "") else FIRST, logprobs=True
    )
    with dspy.context(lm=lm_of(answers)):
        run_all = dspy.Parallel(num_threads=4, disable_progress_bar=True)
        found = run_all(
            [
                (program, dspy.Example(request=r, tools=TOOLS).with_inputs("request", "tools"))
                for r in [REQUEST, BARE] * 8
            ]
        )
    assert [prediction.tagged for prediction in found] == [True, False] * 8
    assert [prediction.calls for prediction in found] == [[SECOND_CALL], [FIRST_CALL]] * 8
