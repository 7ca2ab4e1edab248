import pytest

from eval.metrics.counts import Counts
from eval.metrics.slots import compare, score_item
from eval.metrics.values import same_value
from prefine_dspy import Catalogue, Parameter, Tool, ToolCall

SLOTS = {"GetHotels": ("average_star",), "GetFlights": ("flight_class", "passengers")}
CATALOGUE = Catalogue(
    [
        Tool(name="GetHotels", parameters=(Parameter(name="average_star"), Parameter(name="has_wifi", type="boolean"))),
        Tool(name="GetFlights", parameters=(Parameter(name="flight_class"), Parameter(name="passengers"))),
    ]
)
call = ToolCall.of


def score(gold, predicted, **options):
    return score_item(gold, predicted, SLOTS, **options)


class TestCounts:
    def test_a_wrong_value_is_a_false_positive_and_a_false_negative(self):
        assert score([call("GetHotels", average_star="1")], [call("GetHotels", average_star="5")]).overall == (0, 1, 1)

    def test_parts_add_up(self):
        gold = [call("GetHotels", average_star="1", location="Paris")]
        item = score(gold, [call("GetHotels", average_star="1", location="Rome", hotel_name="Ritz")])
        assert (item.overall, item.pref, item.nonpref) == ((1, 2, 1), (1, 0, 0), (0, 2, 1))
        assert (item.predicted_arguments, item.gold_arguments, item.gold_preferences) == (3, 2, 1)

    def test_the_function_must_be_right(self):
        item = score([call("GetHotels", average_star="1")], [call("GetHomes", average_star="1")])
        assert item.overall == (0, 1, 1)
        assert not item.function_right

    def test_naming_every_value_costs_precision(self):
        item = score([call("GetHotels", average_star="1")], [call("GetHotels", average_star=["1", "2", "3"])])
        assert item.overall == (1, 2, 0)

    def test_the_same_value_twice_counts_once(self):
        predicted = [call("GetHotels", average_star=["1", "1"]), call("GetHotels", average_star="1")]
        assert score([call("GetHotels", average_star="1")], predicted).overall == (1, 0, 0)


class TestAlternatives:
    GOLD = (call("GetMovies", genre="Comedy", starring="A"), call("GetMovies", genre="Drama", starring="B"))

    def test_the_best_one_is_the_gold(self):
        assert score(self.GOLD, [call("GetMovies", genre="Drama", starring="B")]).overall == (2, 0, 0)

    def test_values_of_two_alternatives_are_not_mixed(self):
        assert score(self.GOLD, [call("GetMovies", genre="Comedy", starring="B")]).overall == (1, 1, 1)

    def test_a_shorter_alternative_is_right_on_its_own(self):
        gold = [call("F", a="1"), call("F", a="1", b="2")]
        assert score(gold, [call("F", a="1")]).overall == (1, 0, 0)

    def test_errors_break_ties(self):
        gold = [call("F", a="1", b="2", c="3"), call("F", a="1")]
        assert len(compare(gold, [call("F")]).missed) == 1


class TestAbstention:
    def test_no_call_where_none_is_right(self):
        item = score([], [])
        assert item.overall.item_f1 == 1.0
        assert item.overall.f1 == 0.0
        assert item.pref_exact_match
        assert item.function_right
        assert item.abstained

    def test_a_call_without_arguments_abstains(self):
        item = score([call("GetHotels", average_star="1")], [call("GetHotels")])
        assert item.abstained
        assert item.function_right
        assert item.overall == (0, 0, 1)

    def test_a_call_where_none_is_right(self):
        item = score([], [call("GetHotels", average_star="1")])
        assert item.overall == (0, 1, 0)
        assert not item.function_right

    def test_an_unreadable_answer_is_not_an_abstention_and_never_an_exact_match(self):
        item = score([call("GetHotels", location="Paris")], [], parse_failed=True)
        assert not item.abstained
        assert not item.pref_exact_match
        assert not item.function_right


class TestValues:
    @pytest.mark.parametrize(
        ("gold", "predicted"),
        [
            ("Economy", " economy "),
            ("New York", "new  york"),
            ("Café", "Cafe\u0301"),
            ("True", True),
            ("True", "yes"),
            ("2", 2),
            ("2", "2.0"),
            ("2019-03-05", "2019-3-5"),
            ("2019-03-05", "2019/03/05"),
            ("2019-03-05", "March 5th"),
            ("2019-03-05", "5 March 2019"),
            ("2019-03-05", "the 5th of march"),
            ("18:15", "6:15 pm"),
            ("09:00", "9:00"),
            ("09:00", "9 a.m."),
            ("00:30", "12:30 am"),
        ],
    )
    def test_same(self, gold, predicted):
        assert same_value(gold, predicted)

    @pytest.mark.parametrize(
        ("gold", "predicted"),
        [
            ("Economy", "Premium Economy"),
            ("True", "False"),
            ("Yes", "True"),
            ("2", "02:00"),
            ("2", "two"),
            ("2019-03-05", "2018-03-05"),
            ("2019-03-05", "2019-05-03"),
            ("2019-03-05", "March 6th"),
            ("18:15", "6:15"),
            ("7", "7 pm"),
            ("1", ""),
            ("may", "May 5"),
            ("2019-02-30", "March 2"),
        ],
    )
    def test_different(self, gold, predicted):
        assert not same_value(gold, predicted)

    def test_the_schema_says_what_is_a_boolean(self):
        assert same_value("yes", "True", Parameter(name="has_wifi", type="boolean"))
        assert not same_value("Yes", "True", Parameter(name="song_name"))
        item = score([call("GetHotels", has_wifi=True)], [call("GetHotels", has_wifi="yes")], catalogue=CATALOGUE)
        assert item.overall == (1, 0, 0)


def test_counts():
    counts = Counts(3, 1, 2)
    assert counts.precision == 0.75
    assert counts.recall == 0.6
    assert counts.f1 == pytest.approx(2 / 3)
    assert list(counts.as_dict()) == ["tp", "fp", "fn", "precision", "recall", "f1"]
