import pytest
from small_world import FLIGHTS, TOOLS
from token_lm import Tokens, sure

import prefine_dspy as pf
from prefine_dspy.confidence import confidences, read_tokens
from prefine_dspy.types import ToolCall

START = sure('{"call":{"function":"GetFlights","arguments":{"flight_class":"')
END = sure('"passengers":"unspecified","airlines":"unspecified","destination":"Paris","date":"unspecified"}}}')


def confidence(*value, start=START, tools=(FLIGHTS,)):
    agent = pf.load(pf.PRefine(), Tokens([start, *value, END]).lm())
    result = agent("Fly me to Paris", tools=list(tools), memory="Likes it cheap.")
    return result.sources[0]["flight_class"].confidence


def test_the_probability_of_one_token():
    assert confidence(("Economy", 0.8, {"Economy": 0.8, "Business": 0.2}), sure('",')) == 0.8


def test_it_is_renormalised_over_the_allowed_values():
    # "First" and a line break have no place in the grammar: what they take must not count against the value
    value = ("Economy", 0.3, {"First": 0.4, "Economy": 0.3, "\n": 0.2, "Business": 0.1})
    assert confidence(value, sure('",')) == 0.75


def test_unspecified_is_one_of_the_allowed_values():
    value = ("Economy", 0.5, {"Economy": 0.5, "uns": 0.5})
    assert confidence(value, sure('",')) == 0.5


def test_where_only_one_value_is_left_nothing_competes():
    tokens = ("Ec", 0.6, {"Ec": 0.6, "Bus": 0.4}), ("onomy", 0.1, {"lair": 0.9, "onomy": 0.1}), sure('",')
    assert confidence(*tokens) == 0.6


def test_the_closing_mark_tells_a_value_from_a_longer_one():
    premium = pf.Tool(
        name="GetFlights",
        parameters=(
            pf.Parameter(name="flight_class", enum=("Premium", "Premium Economy")),
            *FLIGHTS.parameters[1:],
        ),
    )
    tokens = ("Premium", 0.9, {"Premium": 0.9}), ('",', 0.25, {" Economy": 0.75, '",': 0.25})
    assert confidence(*tokens, tools=[premium]) == 0.25


def test_a_token_may_begin_before_the_value():
    start = sure('{"call":{"function":"GetFlights","arguments":{"flight_class"')
    value = (':"Economy', 0.2, {':"Economy': 0.2, ':"Business': 0.2, ": ": 0.6})
    assert confidence(value, sure('",'), start=start) == 0.5


def test_an_open_value_has_the_probability_of_its_text():
    end = [("Par", 0.5, {}), ("is", 0.5, {}), sure('","date":"unspecified"}}}')]
    start = sure(
        '{"call":{"function":"GetFlights","arguments":{"flight_class":"unspecified","passengers":"unspecified",'
        '"airlines":"unspecified","destination":"'
    )
    result = pf.load(pf.PRefine(), Tokens([start, *end]).lm())("Fly me to Paris", tools=TOOLS)
    assert result.sources[0]["destination"].confidence == 0.25


def test_how_the_answer_goes_on_after_the_value_does_not_matter():
    assert (
        confidence(("Economy", 0.8, {"Economy": 0.8, "Business": 0.2}), ('",', 0.1, {'"': 0.7, '"}': 0.2, '",': 0.1}))
        == 0.8
    )


def test_pieces_of_the_same_word_count_for_it():
    assert confidence(("Economy", 0.3, {"Economy": 0.3, "Eco": 0.5, "Business": 0.2}), sure('",')) == 0.8


def test_a_longer_number_is_another_number():
    tools = [pf.Tool(name="f", parameters=(pf.Parameter(name="n", type="integer"),))]
    tokens = [
        sure('{"call":{"function":"f","arguments":{"n":'),
        ("1", 0.5, {"1": 0.5, "12": 0.3, "1}": 0.2}),
        sure("}}}"),
    ]
    result = pf.load(pf.PRefine(), Tokens(tokens).lm())("One", tools)
    assert result.sources[0]["n"].confidence == 0.7


@pytest.mark.parametrize("logprob", [float("-inf"), float("nan"), -9999.0, 3.0])
def test_odd_numbers_stay_probabilities(logprob):
    text = '{"call":{"function":"GetFlights","arguments":{"flight_class":"Economy"}}}'
    tokens = [{"token": text, "logprob": logprob, "top_logprobs": [{"token": "x", "logprob": logprob}]}]
    (found,) = confidences({"content": tokens}, [ToolCall.of("GetFlights", flight_class="Economy")], TOOLS)
    assert 0.0 <= found["flight_class"] <= 1.0


def test_bytes_of_one_character_may_be_in_two_tokens():
    text = '{"call":{"function":"GetFlights","arguments":{"airlines":"Zürich","flight_class":"Economy"}}}'.encode()
    cut = text.index("ü".encode()) + 1
    tokens = [{"token": "?", "logprob": 0.0, "bytes": list(part)} for part in (text[:cut], text[cut:])]
    call = ToolCall.of("GetFlights", flight_class="Economy", airlines="Zürich")
    assert confidences({"content": tokens}, [call], TOOLS) == [{"airlines": 1.0, "flight_class": 1.0}]


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": [None]},
        {"content": [{"token": "a"}]},
        {"content": [{"logprob": "x"}]},
        {"content": [{"token": "a", "logprob": -(10**400)}]},
        3,
    ],
)
def test_what_cannot_be_read_gives_no_confidence(logprobs):
    assert read_tokens(logprobs) == []
    assert confidences(logprobs, [ToolCall.of("GetFlights", airlines="a")], TOOLS) == [{}]


@pytest.mark.parametrize(
    "text", ["GetFlights()", '{"call":{"function":"GetFlights","arguments":{"flight_class":"Eco', ""]
)
def test_an_answer_of_another_form_gives_no_confidence(text):
    tokens = [{"token": text, "logprob": -0.1}]
    assert confidences({"content": tokens}, [ToolCall.of("GetFlights", flight_class="Economy")], TOOLS) == [{}]
