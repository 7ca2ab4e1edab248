import dspy
import pytest

from eval.metrics.compile_feedback import BlamingMetric
from eval.metrics.dspy_metrics import MPTMetric
from prefine_dspy.types import ToolCall
from tests.eval.data.made import MAPPING, STARS

call = ToolCall.of
FLIGHT = call("GetFlights", destination="Paris", flight_class="Economy")
metric = BlamingMetric(MAPPING)


def judged(gold, *calls, memory="", **more):
    example = dspy.Example(gold=[gold], memory=memory)
    prediction = dspy.Prediction(calls=list(calls), **more)
    found = metric(example, prediction, [], "caller.call_tool", [])
    if not more:
        assert found.score == MPTMetric()(example, prediction)
    return found.blames, found.feedback


def test_the_memory_lacked_the_preference():
    blames, text = judged(FLIGHT, call("GetFlights", destination="Paris"), memory="The user prefers jazz.")
    assert blames == ["memory lacked it"]
    assert "flight_class of GetFlights was left out but should be 'Economy'" in text
    assert "saving money" in text and "does not say so" in text


def test_the_caller_ignored_what_the_memory_says():
    blames, text = judged(FLIGHT, call("GetFlights", destination="Paris"), memory="The user prefers cheap options.")
    assert blames == ["caller ignored it"]
    assert "does not apply it" in text


def test_a_value_that_the_memory_names_counts_as_said():
    gold = call("GetFlights", airlines="Delta Airlines")
    assert judged(gold, call("GetFlights"), memory="Usually flies with Delta Airlines.")[0] == ["caller ignored it"]
    assert judged(gold, call("GetFlights"), memory="Usually flies.")[0] == ["memory lacked it"]


def test_the_caller_invented_it():
    blames, text = judged(call("GetFlights", destination="Paris"), FLIGHT, memory="The user prefers jazz.")
    assert blames == ["caller invented it"]
    assert "should be left unspecified" in text and "do not guess" in text


def test_the_memory_misled():
    gold = call("GetMovies", genre="Drama")
    wrong = call("GetMovies", genre="Drama", starring=STARS[0])
    assert judged(gold, wrong, memory=f"The user prefers films with {STARS[0]}.")[0] == ["memory misled"]


def test_what_the_query_states_is_not_the_memory_s_business():
    blames, text = judged(FLIGHT, call("GetFlights", destination="Rome", flight_class="Economy"))
    assert blames == ["query"]
    assert "destination of GetFlights was set to 'Rome' but should be 'Paris'" in text


def test_the_wrong_function_is_one_line():
    blames, text = judged(FLIGHT, call("GetBuses", destination="Paris"))
    assert blames == ["function"]
    assert text.startswith("Called GetBuses where GetFlights was wanted")
    assert judged(FLIGHT)[0] == ["function"]


def test_all_right_and_unreadable():
    assert judged(FLIGHT, FLIGHT) == ([], f"All right: {FLIGHT}.")
    assert "could not be read" in judged(FLIGHT, parse_failed=True)[1]


@pytest.mark.parametrize("value", [None, [None], {"a": 1}, "x" * 5000, "日本"])
def test_hostile_values_do_not_break_it(value):
    blames, text = judged(FLIGHT, call("GetFlights", flight_class=value), memory="cheap")
    assert blames and text
