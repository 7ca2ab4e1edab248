import math

import pytest
from predictive_world import TOOLS, call
from small_world import session

from prefine_dspy.predictive.calibration import (
    ScoredArgument,
    choose_threshold,
    coverage_accuracy,
    learn_priors,
    scored,
)
from prefine_dspy.predictive.contrast import Considered
from prefine_dspy.types import History

GOOD = [ScoredArgument(lift, True, True) for lift in (0.9, 0.8)]
BAD = [ScoredArgument(lift, False, False) for lift in (0.3, 0.2)]


def test_the_curve_runs_from_nothing_to_all():
    points = coverage_accuracy([*GOOD, *BAD])
    assert [(one.coverage, one.accuracy) for one in points] == [(0, 1), (0.25, 1), (0.5, 1), (0.75, 2 / 3), (1, 0.5)]
    assert points[0].threshold == math.inf
    assert [one.f1 for one in points] == pytest.approx([0, 2 / 3, 1, 0.8, 2 / 3])


def test_equal_lifts_are_one_point():
    assert len(coverage_accuracy([ScoredArgument(0.5, right, True) for right in (True, False)])) == 2


def test_the_threshold_lies_between_right_and_wrong():
    assert choose_threshold([*GOOD, *BAD]).threshold == pytest.approx(0.55)


def test_where_nothing_is_right_nothing_is_filled_in():
    assert choose_threshold(BAD).threshold > 0.3


def test_no_data_is_said():
    with pytest.raises(ValueError, match="at least one"):
        choose_threshold([])


def test_only_hypotheses_are_scored_against_all_alternatives():
    def considered(value, because="hypothesis"):
        return Considered("GetHotels", "average_star", value, 0.5, because, "", True)

    gold = [call("GetHotels", average_star="1"), call("GetHotels", average_star="2")]
    found = scored([considered("2"), considered("5"), considered("1", "habit")], gold)
    assert found == [ScoredArgument(0.5, True, True), ScoredArgument(0.5, False, True)]
    assert scored([considered("2")], [call("GetHotels")]) == [ScoredArgument(0.5, False, False)]


def test_priors_are_shares_of_choices_with_none_impossible():
    cheap = [session(str(number), call("GetFlights", flight_class="Economy")) for number in range(9)]
    histories = [History(id="h", sessions=(*cheap, session("x", call("GetFlights", flight_class="Business"))))]
    found = learn_priors(histories, TOOLS)
    assert found == {
        "GetFlights.flight_class": {"Economy": pytest.approx(9.5 / 11), "Business": pytest.approx(1.5 / 11)}
    }
    assert learn_priors(histories, TOOLS, least=11) == {}
