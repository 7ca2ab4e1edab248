import dspy
import pytest

from eval.metrics.dspy_metrics import MPTMetric, mpt_metric, mpt_metric_with_feedback
from prefine_dspy import ToolCall

call = ToolCall.of
HOTELS = call("GetHotels", location="Paris", average_star="1")


def example(*gold):
    return dspy.Example(query="Book a hotel in Paris", gold=list(gold)).with_inputs("query")


def prediction(*calls, **more):
    return dspy.Prediction(calls=list(calls), **more)


def test_f1_of_an_item():
    assert mpt_metric(example(HOTELS), prediction(HOTELS)) == 1.0
    assert mpt_metric(example(HOTELS), prediction(call("GetHotels", location="Paris"))) == pytest.approx(2 / 3)
    assert MPTMetric(part="pref")(example(HOTELS), prediction(call("GetHotels", location="Paris"))) == 0.0


def test_gold_and_calls_may_be_text_or_plain_dictionaries():
    gold = dspy.Example(gold=['GetHotels(location="Paris", average_star="1")'])
    assert mpt_metric(gold, {"calls": [{"name": "GetHotels", "arguments": HOTELS.arguments}]}) == 1.0


def test_abstention_is_right_where_nothing_is_asked_for():
    assert mpt_metric(example(), prediction()) == 1.0
    assert mpt_metric(example(call("GetHotels")), prediction(call("GetHotels"))) == 1.0
    assert mpt_metric(example(HOTELS), prediction()) == 0.0


def test_a_failed_program_is_no_abstention():
    assert mpt_metric(example(), dspy.Prediction()) == 0.0
    assert mpt_metric(example(), prediction(parse_failed=True)) == 0.0


def test_an_example_without_gold_is_an_error():
    with pytest.raises(ValueError, match="no `gold`"):
        mpt_metric(dspy.Example(query="x"), prediction())


def test_bootstrapping_wants_whole_successes():
    half = prediction(call("GetHotels", location="Paris"))
    assert mpt_metric(example(HOTELS), half, trace=[]) is False
    assert mpt_metric(example(HOTELS), prediction(HOTELS), trace=[]) is True
    assert mpt_metric(example(HOTELS), half, trace=[], pred_name="call_tool", pred_trace=[]) == pytest.approx(2 / 3)


class TestFeedback:
    def text(self, gold, *calls, **more):
        result = mpt_metric_with_feedback(example(*gold), prediction(*calls, **more), [], "call_tool", [])
        assert result.score == mpt_metric(example(*gold), prediction(*calls, **more))
        return result.feedback

    def test_all_right(self):
        assert self.text([HOTELS], HOTELS).startswith("All right")

    def test_a_missed_preference_is_the_memory_s_or_its_use(self):
        text = self.text([HOTELS], call("GetHotels", location="Paris"))
        assert "average_star was left out but should be '1'" in text
        assert "memory" in text
        assert "Right: location='Paris'." in text

    def test_a_wrong_stated_argument_is_a_reading_mistake(self):
        text = self.text([HOTELS], call("GetHotels", location="Rome", average_star="1"))
        assert "location was set to 'Rome' but should be 'Paris'" in text
        assert "reading the query" in text
        assert "should be left out" not in text

    def test_invented_arguments(self):
        text = self.text([call("GetHotels", location="Paris")], HOTELS)
        assert "average_star was set to '1' but should be left out" in text
        assert "abstain" in text

    def test_the_wrong_function(self):
        assert "Called GetHomes where GetHotels was wanted." in self.text([HOTELS], call("GetHomes", area="Paris"))
        assert "Called nothing where GetHotels was wanted." in self.text([HOTELS])

    def test_an_unreadable_answer(self):
        assert "could not be read" in self.text([HOTELS], parse_failed=True)


class _Fixed(dspy.Module):
    def forward(self, query):
        return prediction(call("GetHotels", location="Paris"))


@pytest.mark.parametrize("metric", [mpt_metric, mpt_metric_with_feedback, MPTMetric(part="pref")])
def test_evaluate_accepts_it(metric):
    evaluate = dspy.Evaluate(devset=[example(HOTELS)] * 3, metric=metric, num_threads=1, display_progress=False)
    result = evaluate(_Fixed())
    assert result.score == (0.0 if isinstance(metric, MPTMetric) else pytest.approx(66.67))
