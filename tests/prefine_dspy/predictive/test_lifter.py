import dspy
import pytest
from letter_server import letter_lm
from predictive_world import ALONE, CHEAP, TOOLS, taste

from prefine_dspy.errors import InputError
from prefine_dspy.predictive.lifter import measure_lifts
from prefine_dspy.predictive.places import places

STARS, CLASS = ("GetHotels", "average_star"), ("GetFlights", "flight_class")


@pytest.fixture
def lm(monkeypatch):
    made, server = letter_lm(monkeypatch, taste)
    made.server = server
    with dspy.context(lm=made):
        yield made
    server.close()


def lifts(texts, *keys, known=None, **more):
    return measure_lifts(texts, places(TOOLS, keys, known or {}), **more)


def test_a_hypothesis_moves_what_it_is_about(lm):
    found = lifts([CHEAP], STARS, CLASS, ("GetHotels", "has_wifi")).by_text[CHEAP]
    assert found[STARS].best == "1" and found[STARS].by("kl") > 0.3
    assert found[CLASS].best == "Economy"
    assert found["GetHotels", "has_wifi"].by("kl") == pytest.approx(0.0)


def test_an_argument_that_the_lm_takes_for_a_number_is_a_count(lm):
    found = lifts([ALONE], ("GetEvents", "tickets"), ("GetHeating", "temperature")).by_text[ALONE]
    assert found["GetEvents", "tickets"].best == "1"
    assert ("GetHeating", "temperature") not in found  # 21 and 25 are no small numbers


def test_a_switch_is_judged_against_leaving_it(lm):
    text = "The user saves energy"
    found = lifts([text], ("GetHeating", "eco_mode")).by_text[text]["GetHeating", "eco_mode"]
    assert (
        found.best == "on" and found.given.of("on") == pytest.approx(0.9) and found.null.of("on") == pytest.approx(0.3)
    )


def test_a_name_is_asked_about_only_where_the_hypothesis_names_it(lm):
    key = ("GetMusic", "artist")
    text = "The user likes Jay Chou"
    known = {key: ["Jay Chou", "Andy Lau"]}
    found = lifts([text, CHEAP], key, known=known)
    assert found.by_text[CHEAP] == {}
    assert found.by_text[text][key].best == "Jay Chou"
    assert found.by_text[text][key].log_ratio("Andy Lau") < 0
    assert not any(CHEAP in prompt for prompt in lm.server.prompts)


def test_transient_and_unknown_arguments_have_no_place():
    assert places(TOOLS, [("GetFlights", "destination"), ("GetFlights", "x"), ("No", "x")], {}) == []


def test_what_was_measured_is_free_the_next_time(lm):
    first = lifts([CHEAP], STARS).asked
    assert (first.questions, first.evaluated > 0) == (2, True)
    assert lifts([CHEAP], STARS).asked.questions == 0
    assert lifts([ALONE], STARS).asked.questions == 1  # knowing nothing is known


def test_priors_replace_what_the_lm_expects(lm):
    priors = {"GetFlights.flight_class": {"Economy": 0.9, "Business": 0.1}}
    found = lifts([CHEAP], CLASS, priors=priors).by_text[CHEAP][CLASS]
    assert found.null.of("Economy") == pytest.approx(0.9)


def test_no_lm_is_one_line():
    with pytest.raises(InputError, match="no LM is set"):
        lifts([CHEAP], STARS)
