import pytest

from eval.metrics.nlsi_strict import gold_calls, pair_calls, score_answer, score_calls
from prefine_dspy import ToolCall

RIGHT = (1.0, 1.0, 1.0, 1.0, 1.0)
WRONG = (0.0, 0.0, 0.0, 0.0, 0.0)
DINNER = 'GetRestaurants(city="Napa", cuisine="Thai")'


def test_a_copy_is_right_in_any_order_and_form():
    gold = [DINNER, 'GetHotels(location="Napa")']
    assert score_answer(gold, "\n".join(gold)) == RIGHT
    assert score_answer(gold, "\n".join(reversed(gold))) == RIGHT
    assert score_answer(gold, [{"name": "GetHotels", "arguments": {"location": "Napa"}}, DINNER]) == RIGHT


def test_swapped_values_are_errors():
    gold = ['GetRestaurants(city="Napa", cuisine="Thai")', 'GetRestaurants(city="Rome", cuisine="Pizza")']
    swapped = 'GetRestaurants(city="Rome", cuisine="Thai")\nGetRestaurants(city="Napa", cuisine="Pizza")'
    assert score_answer(gold, swapped) == (0.0, 0.0, 0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "answer",
    [
        f"{DINNER}\n{DINNER}",
        'GetRestaurants(city="Napa")\nGetRestaurants(cuisine="Thai")',
        'GetRestaurants(city="Napa", cuisine="Thai")\nGetHotels()',
    ],
)
def test_doubled_split_and_spare_calls_are_no_exact_match(answer):
    score = score_answer([DINNER], answer)
    assert score.em == score.em_length_checked == 0
    assert score.f1 < 1


def test_any_can_be_matched():
    gold = ['GetMovies(genre="any", location="Napa")']
    assert score_answer(gold, gold) == RIGHT
    assert score_answer(gold, 'GetMovies(location="Napa")').recall == 0.5
    assert score_answer(['GetMovies(location="Napa")'], gold).precision == 0.5


def test_dates_are_not_forgiven():
    assert score_answer(['GetWeather(date="May 3rd")'], 'GetWeather(date="May 4th")') == WRONG
    assert score_answer(['GetWeather(date="May 3rd")'], 'GetWeather(date="3rd of May")') == RIGHT


def test_a_function_matters_without_arguments_too():
    assert score_answer(["GetTravel()"], "GetTravel()") == RIGHT
    assert score_answer(["GetTravel()"], "GetHotels()") == WRONG


def test_nothing_wanted():
    assert score_calls([], []) == RIGHT
    assert score_calls([], gold_calls([DINNER])) == WRONG
    assert score_calls([], [], parse_failed=True) == WRONG
    assert score_calls([DINNER], []) == WRONG


def test_every_value_of_a_repeated_argument_counts():
    gold = ['GetRestaurants(cuisine="Thai", cuisine="Indian")']
    assert score_answer(gold, gold) == RIGHT
    assert score_answer(gold, 'GetRestaurants(cuisine="Thai")').recall == 0.5
    assert score_answer(['GetRestaurants(cuisine="Thai")'], gold).precision == 0.5


def test_unreadable_gold_is_never_matched():
    assert score_answer(["???"], "GetTravel()") == WRONG


def test_pairs_find_the_exact_partner_behind_a_near_one():
    gold = gold_calls(['GetA(x="1", y="2")', 'GetA(x="1", y="2", z="3")'])
    predicted = gold_calls(['GetA(x="1", y="2", z="3")', 'GetA(y="2", x="1")'])
    assert [pair.exact for pair in pair_calls(gold, predicted)] == [True, True]


def test_calls_without_partner_come_last():
    pairs = pair_calls([ToolCall.of("GetA", x="1")], [ToolCall.of("GetB", x="1")])
    assert [(pair.gold is None, pair.predicted is None) for pair in pairs] == [(False, True), (True, False)]
