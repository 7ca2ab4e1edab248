"""Selection of instructions: sets of ids, and the same as a DSPy metric."""

import dspy
import pytest

from eval.metrics.selection import SelectionMetric, SelectionScore, score_selection
from prefine_dspy.standing import InstructedQuery, StandingInstruction
from prefine_dspy.types import Query

ALL, NONE = SelectionScore(1.0, 1.0, 1.0, 1.0), SelectionScore(0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("gold", "selected", "expected"),
    [
        ("", "", ALL),
        ("ab", "ba", ALL),
        ("a", "", NONE),
        ("", "a", NONE),
        ("a", "b", NONE),
        ("ab", "a", SelectionScore(0.0, 1.0, 0.5, pytest.approx(2 / 3))),
        ("a", "abcd", SelectionScore(0.0, 0.25, 1.0, pytest.approx(0.4))),
        ("a", "aa", ALL),
    ],
)
def test_one_instance(gold, selected, expected):
    assert score_selection(gold, selected) == expected


LIKES_SOUP = StandingInstruction(id="1", text="Soup first.")
LIKES_RAIN = StandingInstruction(id="2", text="Rain is fine.")
REQUEST = InstructedQuery(query=Query.of("Dinner?"), applicable=(LIKES_SOUP,), profile=(LIKES_SOUP, LIKES_RAIN))


def test_gold_as_ids_instructions_or_request():
    for gold in ({"applicable": ["1"]}, {"applicable": [LIKES_SOUP]}, {"request": REQUEST}):
        assert SelectionMetric()(dspy.Example(**gold), dspy.Prediction(selected=["1"])) == 1.0
        assert SelectionMetric(part="precision")(dspy.Example(**gold), {"selected": ["1", "2"]}) == 0.5
    with pytest.raises(ValueError, match="no `applicable`"):
        SelectionMetric()(dspy.Example(query="x"), dspy.Prediction(selected=[]))


@pytest.mark.parametrize("bad", [{}, {"selected": None}, {"selected": "1"}, {"selected": ["1"], "parse_failed": True}])
def test_an_unreadable_selection_is_not_an_empty_one(bad):
    assert SelectionMetric()(dspy.Example(applicable=["1"]), dspy.Prediction(**bad)) == 0.0
    assert SelectionMetric()(dspy.Example(applicable=[]), dspy.Prediction(**bad)) == 0.0
    assert SelectionMetric()(dspy.Example(applicable=[]), dspy.Prediction(selected=[])) == 1.0


def test_bootstrapping_wants_the_exact_set():
    metric, example = SelectionMetric(), dspy.Example(applicable=["1", "2"])
    assert metric(example, dspy.Prediction(selected=["1"]), trace=[]) is False
    assert metric(example, dspy.Prediction(selected=["2", "1"]), trace=[]) is True
    assert metric(example, dspy.Prediction(selected=["1"]), [], "select", []) == pytest.approx(2 / 3)


def test_feedback_names_what_is_missing_and_what_is_too_much():
    metric, example = SelectionMetric(feedback=True), dspy.Example(request=REQUEST)
    wrong = metric(example, dspy.Prediction(selected=["2", "77"]))
    assert wrong.score == 0.0
    assert wrong.feedback == ("Missed: 1 (Soup first.). Selected though not applicable: 2 (Rain is fine.); 77.")
    assert metric(example, dspy.Prediction(selected=["1"])).feedback.startswith("All right")
    assert "could be read" in metric(example, dspy.Prediction()).feedback


def test_it_has_a_name_and_serves_evaluate():
    assert SelectionMetric(part="em", feedback=True).__name__ == "selection_em_with_feedback"

    class Everything(dspy.Module):
        def forward(self, request):
            return dspy.Prediction(selected=[one.id for one in request.profile])

    devset = [dspy.Example(request=REQUEST).with_inputs("request")]
    result = dspy.Evaluate(devset=devset, metric=SelectionMetric(), num_threads=1)(Everything())
    assert result.score == pytest.approx(66.67)
