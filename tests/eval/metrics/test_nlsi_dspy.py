import dspy
import pytest

from eval.metrics.nlsi_dspy import (
    NlsiMetric,
    nlsi_exact_match,
    nlsi_f1,
    nlsi_metric_with_feedback,
    taps_optimiser_metric,
)
from eval.metrics.nlsi_strict import gold_calls
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.types import Query

GOLD = ('GetRestaurants(city="Napa", cuisine="Thai")', 'GetTravel(location="Napa", category="any")')
REQUEST = InstructedQuery(
    query=Query.of("A place for dinner in Napa, please, and something to see."),
    applicable=(StandingInstruction(id="0", text="I always have Thai food."),),
)
EXAMPLE = dspy.Example(request=REQUEST, gold=GOLD).with_inputs("request")


def answer(*calls, **fields):
    return dspy.Prediction(calls=gold_calls(calls), **fields)


def test_right_and_partly_right():
    half = answer('GetRestaurants(city="Napa", cuisine="Thai")')
    assert nlsi_exact_match(EXAMPLE, answer(*GOLD)) == nlsi_f1(EXAMPLE, answer(*GOLD)) == 1.0
    assert nlsi_exact_match(EXAMPLE, half) == 0.0
    assert nlsi_f1(EXAMPLE, half) == pytest.approx(2 / 3)


@pytest.mark.parametrize("metric", [nlsi_exact_match, nlsi_f1, taps_optimiser_metric])
def test_while_bootstrapping_only_exact_answers_are_successes(metric):
    example = dspy.Example(gold=list(GOLD[:1]))
    assert metric(example, answer(GOLD[0]), []) is True
    assert metric(example, answer('GetRestaurants(city="Napa")'), []) is False
    assert isinstance(metric(example, answer(GOLD[0]), [], "predictor", []), float)


def test_the_optimiser_s_metric_cannot_match_any():
    assert taps_optimiser_metric(EXAMPLE, answer(*GOLD)) == 0.0
    assert NlsiMetric("f1", scorer="reference")(EXAMPLE, answer(*GOLD)) == pytest.approx(6 / 7)


def test_the_optimiser_s_metric_on_raw_text_makes_its_cuts():
    example = dspy.Example(gold=list(GOLD[:1]))
    raw = answer(GOLD[0], raw=f"GetHotels()\nAPI Calls:\n{GOLD[0]}\n---\nGetBanks()")
    assert NlsiMetric("em", scorer="reference", read="raw")(example, raw) == 1.0
    json = answer(GOLD[0], raw='[{"name": "GetRestaurants"}]')
    assert NlsiMetric("em", scorer="reference", read="raw")(example, json) == 0.0
    assert NlsiMetric("em", scorer="reference")(example, json) == 1.0


@pytest.mark.parametrize("prediction", [dspy.Prediction(), answer(parse_failed=True), {"calls": None}])
def test_a_program_that_failed_scores_nothing(prediction):
    assert nlsi_f1(dspy.Example(gold=[]), prediction) == 0.0
    assert "could not be read" in nlsi_metric_with_feedback(EXAMPLE, prediction).feedback


def test_an_example_without_gold_says_what_to_write():
    with pytest.raises(ValueError, match="gold="):
        nlsi_f1(dspy.Example(request=REQUEST), answer())


@pytest.mark.parametrize(
    ("calls", "sentences"),
    [
        (
            ['GetRestaurants(city="Napa")', GOLD[1]],
            [
                "cuisine of GetRestaurants was left out but should be 'Thai'.",
                'The standing instruction "I always have Thai food." says so and was not used.',
            ],
        ),
        (
            ['GetRestaurants(city="Napa", cuisine="Thai", party_size="7")', GOLD[1]],
            ["party_size of GetRestaurants was set to '7' but should be left out.", "do not invent arguments"],
        ),
        ([GOLD[0]], ["A call of GetTravel is missing"]),
        ([*GOLD, 'GetBanks(amount="3")'], ["GetBanks was called, but nothing asks for it."]),
        (
            ['GetRestaurants(city="Napa", cuisine="Thai food")', GOLD[1]],
            ["cuisine of GetRestaurants was written 'Thai food' but should be 'Thai'"],
        ),
        (
            [GOLD[0], 'GetHotels(location="Napa", category="any")'],
            ["Called GetHotels where GetTravel was wanted"],
        ),
        (
            [GOLD[0], 'GetTravel(city="Napa")'],
            ["'Napa' was given as city of GetTravel but is location of GetTravel", "The user does not care"],
        ),
        (
            ['GetRestaurants(cuisine="Thai", city="Rome")', GOLD[1]],
            ["set to 'Rome'", "The user says so in the dialogue"],
        ),
        (list(GOLD), ["All right"]),
    ],
)
def test_feedback_names_the_error_and_its_source(calls, sentences):
    feedback = nlsi_metric_with_feedback(EXAMPLE, answer(*calls)).feedback
    for sentence in sentences:
        assert sentence in feedback


def test_evaluate_and_bootstrapping_take_the_metrics():
    class Copy(dspy.Module):
        def forward(self, request):
            return answer(*GOLD)

    result = dspy.Evaluate(devset=[EXAMPLE], metric=nlsi_exact_match, num_threads=1, display_progress=False)(Copy())
    assert result.score == 100.0
    names = {NlsiMetric(part, feedback=text).__name__ for part in ("em", "f1") for text in (True, False)}
    assert len(names) == 4
