import dspy
import pytest

from prefine_dspy.types import Memory
from programs.compilation.builder_metric import LENGTH_WEIGHT, BuilderMetric, ProxyMetric


def memory(text):
    return dspy.Prediction(memory=Memory(text=text))


def score(gold, pred):
    return float(pred == gold.wanted)


HISTORY = dspy.Example(queries=[dspy.Example(wanted="cheap"), dspy.Example(wanted="")])


def answer(query, memory):
    """A caller that calls cheaply whenever the memory says so, whatever is asked."""
    return "cheap" if "cheap" in memory.text else ""


metric = BuilderMetric(answer, score)


def test_a_memory_is_worth_the_calls_it_leads_to():
    assert metric(HISTORY, memory("")) == pytest.approx(0.5)
    assert metric(dspy.Example(queries=HISTORY.queries[:1]), memory("cheap")) == pytest.approx(1.0, abs=LENGTH_WEIGHT)


def test_a_query_that_decides_nothing_counts():
    assert metric(HISTORY, memory("cheap")) == pytest.approx(0.5, abs=LENGTH_WEIGHT)


def test_of_two_memories_that_do_the_same_the_shorter_is_better_but_never_than_a_better_one():
    assert metric(HISTORY, memory("cheap")) > metric(HISTORY, memory("cheap" + " indeed" * 20))
    many = dspy.Example(queries=[dspy.Example(wanted="cheap")] + [dspy.Example(wanted="")] * 39)
    assert LENGTH_WEIGHT < 1 / 40
    assert metric(many, memory("no" * 400)) > metric(many, memory("cheap"))


def test_a_builder_that_failed_gets_the_score_of_no_memory():
    assert metric(HISTORY, dspy.Prediction()) == metric(HISTORY, memory(""))


def test_feedback_names_the_note_and_what_went_wrong():
    def words(query, prediction):
        return dspy.Prediction(score=0.0, feedback=f"wanted {query.wanted!r} with {query.memory!r}")

    said = BuilderMetric(answer, score, words, with_feedback=True)(HISTORY, memory("cheap"), [], "verify", [])
    assert said.score == metric(HISTORY, memory("cheap"))
    assert 'The note was "cheap".' in said.feedback and "wanted '' with 'cheap'" in said.feedback
    fine = BuilderMetric(answer, score, words, with_feedback=True)
    assert "Every query" in fine(dspy.Example(queries=HISTORY.queries[:1]), memory("cheap")).feedback


def test_the_proxy_asks_nobody():
    proxy = ProxyMetric(lambda gold, text: (float("eco" in text), "say eco"))
    assert proxy(HISTORY, memory("eco")) > 0.9 > proxy(HISTORY, memory("cheap"))
    assert ProxyMetric(proxy.agreement, with_feedback=True)(HISTORY, memory("")).feedback == "say eco"
