import dspy
import pytest
from letter_server import letter_lm
from predictive_world import ALONE, CHEAP, TOOLS, taste

from prefine_dspy.errors import InputError
from prefine_dspy.predictive.correction import Correction, correction
from prefine_dspy.predictive.lifter import measure_lifts
from prefine_dspy.predictive.places import places

STARS, CLASS, FOOD = ("GetHotels", "average_star"), ("GetFlights", "flight_class"), ("GetRestaurants", "price_range")


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
    learned = {"GetFlights.flight_class": {"Economy": 0.9, "Business": 0.1}}
    found = lifts([CHEAP], CLASS, FOOD, correction=Correction(learned=learned)).by_text[CHEAP]
    assert found[CLASS].null.of("Economy") == pytest.approx(0.9)
    assert found[FOOD].null.of("cheap") == pytest.approx(1 / 3)
    plain = lifts([CHEAP], FOOD, correction=Correction("lm")).by_text[CHEAP]
    assert plain[FOOD].null.of("cheap") == pytest.approx(0.3)


def test_an_lm_that_expects_one_value_of_everybody_still_says_what_a_hypothesis_adds(monkeypatch):
    """Seen with a 1.5B model: four stars for everybody, three for those who save, though two grew most."""
    null = {"1": 0.01, "2": 0.03, "3": 0.21, "4": 0.63, "5": 0.12}
    cheap = {"1": 0.015, "2": 0.09, "3": 0.51, "4": 0.335, "5": 0.05}
    made, server = letter_lm(monkeypatch, lambda prompt: cheap if CHEAP in prompt else null)
    with dspy.context(lm=made):
        assert lifts([CHEAP], STARS, correction=Correction("lm")).by_text[CHEAP][STARS].best == "3"
        assert lifts([CHEAP], STARS).by_text[CHEAP][STARS].best == "2"
    server.close()


def test_corrections_are_checked():
    for options in (("flat", None), ("lm", {"F.a": 1}), ("lm", {"F.a": {"x": 2}})):
        with pytest.raises(InputError):
            correction(*options)


def test_no_lm_is_one_line():
    with pytest.raises(InputError, match="no LM is set"):
        lifts([CHEAP], STARS)
