import pytest

from eval.metrics.error_categories import KINDS, PAPER_CATEGORIES, categories, find_errors, relative_change
from eval.metrics.nlsi_strict import gold_calls, score_calls
from prefine_dspy.tools import Catalogue, Parameter, Tool

TOOLS = Catalogue(
    [
        Tool(
            name="GetRestaurants",
            parameters=(
                Parameter(name="city"),
                Parameter(name="cuisine"),
                Parameter(name="price_range", enum=("expensive", "very expensive")),
            ),
        ),
        Tool(name="GetTravel", parameters=(Parameter(name="location"), Parameter(name="category"))),
    ]
)


def kinds(gold, predicted, **options):
    return dict(categories(gold_calls(gold), gold_calls(predicted), **options))


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        (['GetTravel(location="Napa")'], ['GetTravel(city="Napa")'], {"substitution": 1}),
        (['GetTravel(location="Napa")'], ['GetHotels(location="Napa")'], {"substitution": 1}),
        (
            ['GetTravel(location="Napa")'],
            ['GetTravel(location="Napa", category="Park")'],
            {"hallucinated_argument": 1},
        ),
        (['GetA(x="q")'], ['GetA(x="q")', 'GetB(y="r")'], {"hallucinated_function": 1}),
        (['GetA(x="q")'], ['GetB(y="r")'], {"missing_call": 1, "hallucinated_function": 1}),
        (['GetA(x="q", y="r")'], ['GetA(x="q")'], {"missing_argument": 1}),
        (['GetA(x="q")', 'GetB(y="r")'], ['GetA(x="q")'], {"missing_call": 1}),
        (['GetA(x="q")'], ['GetA(x="q")', 'GetA(x="q")'], {"extra_call": 1}),
        (['GetA(name="Jamey Johnson")'], ['GetA(name="Johnson")'], {"value_format": 1}),
        (['GetA(name="Johnson")'], ['GetA(name="the event Johnson")'], {"value_format": 1}),
        (['GetA(date="March 9th")'], ['GetA(date="the 9th")'], {"value_format": 1}),
        (['GetA(date="March 9th")'], ['GetA(date="March 8th")'], {"wrong_value": 1}),
        (['GetA(city="San Jose")'], ['GetA(city="San Francisco")'], {"wrong_value": 1}),
        (
            ['GetA(x="True", y="q")'],
            ['GetA(z="True", y="q")'],
            {"missing_argument": 1, "hallucinated_argument": 1},
        ),
        # a value that belongs to another call
        (
            ['GetA(x="q")', 'GetB(y="Napa", z="w")'],
            ['GetA(x="q", y="Napa")', 'GetB(z="w")'],
            {"substitution": 1},
        ),
        (['GetA(x="q")', 'GetB(y="Napa")'], ['GetA(x="q", y="Napa")'], {"substitution": 1, "missing_call": 1}),
        (["GetA()"], ['GetA(x="q")'], {"hallucinated_argument": 1}),
        (['GetA(x="q")'], ["GetA()"], {"missing_argument": 1}),
        (['GetA(x="q")'], ['GetA(x="Q")'], {}),
    ],
)
def test_each_kind(gold, predicted, expected):
    assert kinds(gold, predicted) == expected


def test_an_unreadable_answer_is_one_error():
    assert kinds(['GetA(x="q")'], [], parse_failed=True) == {"unreadable": 1}


def test_the_schema_tells_invented_functions_and_other_choices():
    gold = ['GetRestaurants(city="Napa", price_range="expensive")']
    other = ['GetRestaurants(city="Napa", price_range="very expensive")']
    assert kinds(gold, other) == {"value_format": 1}
    assert kinds(gold, other, catalogue=TOOLS) == {"wrong_value": 1}
    invented = ['GetFood(city="Napa", price_range="expensive")']
    assert kinds(gold, invented) == {"substitution": 1}
    assert kinds(gold, invented, catalogue=TOOLS) == {"hallucinated_function": 1}


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (['GetA(x="q")'], ['GetA(x="q")']),
        (['GetA(x="q")'], ["GetA()"]),
        ([], ["GetA()"]),
        (["GetA()"], []),
        (["GetA()"], ["GetB()"]),
        ([], []),
        (['GetA(x="q")', 'GetA(x="r")'], ['GetA(x="r")', 'GetA(x="q")']),
        (['GetA(x="q", x="r")'], ['GetA(x="q")']),
    ],
)
def test_no_error_if_and_only_if_exact(gold, predicted):
    wanted, given = gold_calls(gold), gold_calls(predicted)
    assert (not find_errors(wanted, given)) is (score_calls(wanted, given).em == 1)


def test_the_papers_categories_are_made_of_ours():
    kinds = [kind for of in PAPER_CATEGORIES.values() for kind in of]
    assert len(kinds) == len(set(kinds)) and set(kinds) < set(KINDS)


def test_relative_change():
    before, after = {"a": 0.5, "b": 0.25, "c": 0.0}, {"a": 0.25, "b": 0.0, "c": 0.5}
    assert relative_change(before, after) == {"a": -0.5, "b": -1, "c": None}
