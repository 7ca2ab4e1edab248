import dspy
import pytest
from letter_server import letter_lm
from predictive_world import CHEAP, CHEAP_SESSIONS, DEAR, TOOLS, taste

from prefine_dspy.predictive.metric import PredictiveLikelihood, examples_of
from prefine_dspy.types import History, Memory, Note

HISTORY = History(id="h", sessions=CHEAP_SESSIONS)


def memory(text):
    return Memory(text=text, notes=(Note(id="h1", text=text),) if text else ())


@pytest.fixture
def score(monkeypatch):
    lm, server = letter_lm(monkeypatch, taste)

    def of(text, **options):
        (example,) = examples_of([HISTORY], TOOLS, later=0.6)
        with dspy.context(lm=lm):
            return PredictiveLikelihood(**options)(example, dspy.Prediction(memory=memory(text)))

    yield of
    server.close()


def test_a_true_memory_beats_none_and_none_beats_a_false_one(score):
    assert score(DEAR) < score("") == score("The user prefers nice things") == 0.5 < score(CHEAP) < 1


def test_a_failed_prediction_is_no_memory(score):
    (example,) = examples_of([HISTORY], TOOLS)
    with dspy.context(lm=dspy.utils.DummyLM([])):
        assert PredictiveLikelihood()(example, dspy.Prediction()) == 0.5


def test_the_feedback_names_choices(score):
    told = score(DEAR, with_feedback=True)
    assert told.score < 0.5 and "went against it: average_star=1 (GetHotels)" in told.feedback
    assert "foretold: average_star=1" in score(CHEAP, with_feedback=True).feedback
    assert "says nothing about: average_star=1" in score("", with_feedback=True).feedback


def test_histories_are_cut_in_two():
    (example,) = examples_of([HISTORY], TOOLS, later=0.3)
    assert [one.id for one in example.history.sessions] == ["s1", "s2"]
    assert [one.id for one in example.later] == ["s3"]
    assert set(example.inputs().keys()) == {"history", "tools"}
    (most,) = examples_of([HISTORY], TOOLS, later=1.0)
    assert len(most.history.sessions) == 1
    assert examples_of([HISTORY.model_copy(update={"sessions": CHEAP_SESSIONS[:1]})], TOOLS) == []
