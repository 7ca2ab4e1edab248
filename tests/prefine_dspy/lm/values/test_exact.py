import dspy
import pytest
from dspy import lm15
from dspy.utils.exceptions import LMUnsupportedFeatureError
from letter_server import letter_lm

from prefine_dspy.lm.values import ValueCache, ValueQuestion, value_distribution, value_distributions
from prefine_dspy.lm.values.ask import Asked


def question(text="cheap", values=("Economy", "Premium", "Premium Economy"), **more):
    return ValueQuestion("Fill in.", f"memory: {text}", (("function", "GetFlights"),), "flight_class", values, **more)


@pytest.fixture
def served(monkeypatch):
    servers = []

    def make(weights, **options):
        lm, server = letter_lm(monkeypatch, weights if callable(weights) else lambda prompt: weights, **options)
        servers.append(server)
        return lm, server

    yield make
    for server in servers:
        server.close()


def test_the_distribution_is_that_of_the_lm_held_to_the_values(served):
    lm, server = served({"Economy": 0.3, "Premium": 0.1, "Premium Economy": 0.2})
    found = value_distribution(lm, question())
    assert dict(zip(found.values, found.probabilities, strict=True)) == pytest.approx(
        {"Economy": 0.5, "Premium": 1 / 6, "Premium Economy": 1 / 3}
    )
    assert (found.how, found.missing_mass) == ("exact", 0.0)
    assert found.coverage == pytest.approx(0.6)
    assert found.best == "Economy"
    # where values part: at the first letter, and after Premium
    assert [prompt.rpartition('":"')[2] for prompt in server.prompts] == ["", "Premium"]


def test_the_prompt_is_the_template_and_the_answer_up_to_the_value(served):
    lm, server = served({"Economy": 1.0})
    value_distribution(lm, question())
    expected = '<system>Fill in.<user>memory: cheap<assistant>{"function":"GetFlights","flight_class":"'
    assert server.prompts[0] == expected


def test_an_open_question_measures_what_the_values_cover(served):
    lm, _ = served({"Jay Chou": 0.2, "Jay Z": 0.5})
    found = value_distribution(lm, question(values=("Jay Chou",), open=True))
    assert found.coverage == pytest.approx(0.2)
    assert found.probabilities == (1.0,)


def test_what_is_not_listed_is_said(served):
    lm, _ = served({"a": 0.6, "b": 0.3, "c": 0.1}, listed=2)
    found = value_distribution(lm, question(values=("a", "b", "c")))
    assert found.of("c") == pytest.approx(0.1)  # the rest, which is all c's
    assert found.missing_mass == pytest.approx(0.1)


@pytest.mark.parametrize("value", ['say "hi"', "naïve", "a\\b", "日本"])
def test_values_are_written_as_json(served, value):
    lm, _ = served({value: 0.75, "other": 0.25})
    assert value_distribution(lm, question(values=(value, "other"))).of(value) == pytest.approx(0.75)


def test_a_question_is_asked_once_and_the_cache_keeps_no_text(served):
    lm, server = served({"Economy": 0.5, "Premium": 0.5})
    cache = ValueCache()
    first, took = value_distributions(lm, [question(), question("dear"), question()], cache=cache)
    assert (len(first), took.questions, len(server.prompts)) == (3, 2, 4)
    again, took = value_distributions(lm, [question()], cache=cache)
    assert again[0] == first[0] and took == Asked()
    assert "cheap" not in repr(vars(cache))
    cache.clear()
    assert value_distributions(lm, [question()], cache=cache)[1].questions == 1


def test_the_cache_forgets_the_oldest(served):
    lm, _ = served({"Economy": 1.0})
    cache = ValueCache(most=1)
    value_distributions(lm, [question("a"), question("b")], cache=cache)
    assert len(cache) == 1
    assert value_distributions(lm, [question("a")], cache=cache)[1].questions == 1


def test_questions_with_one_text_follow_each_other_and_only_new_tokens_count(served):
    lm, server = served({"x": 0.5, "y": 0.5})
    texts = ["long and the same " * 5 + end for end in ("one", "two")]
    questions = [
        ValueQuestion("Fill in.", text, (("function", f),), "a", ("x", "y")) for f in ("F", "G") for text in texts
    ]
    _, took = value_distributions(lm, questions)
    assert [text in prompt for prompt in server.prompts for text in texts] == [True, False, True, False] + [
        False,
        True,
    ] * 2
    assert took.questions == 4
    assert took.evaluated < sum(map(len, server.prompts)) / 2


def test_usage_is_dspys(served):
    lm, server = served({"Economy": 0.5, "Premium": 0.5})
    with dspy.track_usage() as usage:
        value_distribution(lm, question(values=("Economy", "Premium")))
    (total,) = usage.get_total_tokens().values()
    assert total["prompt_tokens"] == len(server.prompts[0])
    assert total["completion_tokens"] == 1


def test_dspys_cache_is_used_where_it_is_on(served, tmp_path):
    lm, server = served({"Economy": 0.5, "Premium": 0.5})
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True, disk_cache_dir=str(tmp_path))
    cached = lm.copy(cache=True)
    first = value_distribution(cached, question(), cache=ValueCache())
    asked = len(server.prompts)
    assert value_distribution(cached, question(), cache=ValueCache()) == first
    assert len(server.prompts) == asked


def test_other_requests_are_refused(served):
    lm, _ = served({})
    from prefine_dspy.lm.values.llama import LlamaCppProbabilities

    measuring = dspy.LM("llamacpp/m", engine=LlamaCppProbabilities(lm.engine), cache=False, num_retries=0)
    message = lm15.Message(role="user", parts=(lm15.TextPart("hi"),))
    with pytest.raises(LMUnsupportedFeatureError, match="enum"):
        measuring(lm15.Request(model="llamacpp/m", messages=(message,)))
