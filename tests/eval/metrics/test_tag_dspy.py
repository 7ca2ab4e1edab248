import dspy
import pytest

from eval.metrics.tag_dspy import tag_f1, tag_f1_with_feedback

EXAMPLE = dspy.Example(gold="[IN:GET_SALONS I go to [SL:CITY Half Moon Bay ] on Mondays ]")
RIGHT = dspy.Prediction(text="<a:GET_SALONS>I go to <sl:CITY>Half Moon Bay</sl> on Mondays</a>")
NARROW = dspy.Prediction(text="<a:GET_SALONS>I go to <sl:CITY>Half Moon</sl> Bay on Mondays</a>")


def test_figures():
    assert tag_f1(EXAMPLE, RIGHT) == 1.0
    assert 0 < tag_f1(EXAMPLE, NARROW) < 1
    assert tag_f1(EXAMPLE, dspy.Prediction()) == 0.0
    assert tag_f1(EXAMPLE, {"text": RIGHT.text}) == 1.0


def test_while_bootstrapping_only_right_tags_are_successes():
    assert tag_f1(EXAMPLE, RIGHT, []) is True
    assert tag_f1(EXAMPLE, NARROW, []) is False
    assert isinstance(tag_f1(EXAMPLE, NARROW, [], "predictor"), float)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (RIGHT.text, ["All right."]),
        (NARROW.text, ["'Half Moon Bay' must be tagged CITY.", "'Half Moon' must not be tagged CITY."]),
        ("<a:GET_BANKS>I go to <sl:CITY>Half Moon Bay</sl> on Mondays</a>", ["GET_SALONS, not GET_BANKS"]),
        ("I go to Half Moon Bay", ["words of the instruction were changed", "not none", "must be tagged CITY"]),
    ],
)
def test_feedback(text, sentences):
    feedback = tag_f1_with_feedback(EXAMPLE, dspy.Prediction(text=text)).feedback
    for sentence in sentences:
        assert sentence in feedback


def test_an_example_without_gold_says_what_to_write():
    with pytest.raises(ValueError, match="gold=tagged text"):
        tag_f1(dspy.Example(), RIGHT)
